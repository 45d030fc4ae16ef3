package acs_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestExtension_IsAskedAnewAtEachRunOfThePresets, and behind each commit; scripts that run together share an answer.
func TestExtension_IsAskedAnewAtEachRunOfThePresets(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, fmt.Sprint(asked.Add(1)))
	}))
	t.Cleanup(web.Close)
	k := newKit(t, acs.Config{Identify: acs.Identify{URL: web.URL}})
	const ask = `ext("lastmile", "identify", "x")`
	k.script("a", `log("a" + `+ask+` + `+ask+`); commit(); log("behind " + `+ask+`);`)
	k.script("b", `log("b" + `+ask+`); declare("Tags.seen", null, {value: true});`) // the presets run once more
	id := k.add(acs.DeviceConfig{Serial: "S1"})
	var lines []string
	for _, line := range k.logged(id) { // a run that begins again logs again
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if want := []string{"a11", "behind 2", "b1", "a33", "behind 4", "b3"}; !slices.Equal(lines, want) {
		t.Errorf("logged %q, want %q", lines, want)
	}
}
