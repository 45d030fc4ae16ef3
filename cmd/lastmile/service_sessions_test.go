package main

import (
	"context"
	"fmt"
	"testing"
)

// TestService_ARemovalIsToldToTheCustomersWhomItEnds: once, with the reason and who wanted it.
func TestService_ARemovalIsToldToTheCustomersWhomItEnds(t *testing.T) {
	t.Parallel()
	w := watch(t, 1)
	amina := w.joins("amina", 1)
	service := w.all(w.admin, "/nas/devices/"+w.r.device+"/services")[0].text("id")
	w.must(w.admin, "DELETE", "/nas/services/"+service+"?confirm=true", nil)
	const said = "A session was ended: its service was removed or made anew."
	w.eventually("the end to be told", func(context.Context) (bool, error) {
		for _, row := range w.all(w.admin, "/subscribers/"+amina.subscriber+"/timeline") {
			if row.text("summary") == said {
				actor, _ := row["actor"].(map[string]any)
				if fmt.Sprint(actor["kind"]) != "user" {
					t.Errorf("told of %v", row)
				}
				return true, nil
			}
		}
		return false, nil
	})
	w.sessionIs("amina", "ended", func(s answer) bool { return s.text("endReason") == "admin_reset" })
	if n := w.told(amina, said); n != 1 {
		t.Errorf("told %d times", n)
	}
	if got := w.routerWrites("session/"); fmt.Sprint(got) != "map[user:1]" {
		t.Errorf("writes in the audit log: %v", got)
	}
}
