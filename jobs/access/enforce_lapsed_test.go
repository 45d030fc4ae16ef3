package accessjobs_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/simulators/handset"
)

// TestEnforce_WhatARouterRefusedIsToldBeforeItComesToNothing: a lapse alone does not say that the router was silent.
func TestEnforce_WhatARouterRefusedIsToldBeforeItComesToNothing(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	s := k.online()
	if err := k.nas.SetFaults(handset.Faults{Dynamic: handset.Refuse}); err != nil {
		t.Fatal(err)
	}
	k.menus.away = true
	k.block(true)
	if err := k.enforce(); err != nil {
		t.Fatal(err)
	}
	k.block(false)
	if err := k.enforce(s); err != nil {
		t.Fatal(err)
	}
	if got := k.changed(s); !got.Lapsed {
		t.Errorf("nothing was changed: %+v", got)
	}
	refused := false
	for _, e := range k.history(s) {
		switch e.(type) {
		case events.SessionChangeRefused:
			refused = true
		case events.SessionChanged:
			if !refused {
				t.Error("the refusal is not told before")
			}
		}
	}
}
