package genieacs_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/simulators/acs"
)

// TestFind_AsksForTheID: a device that writes its identity in normal form is found without a look at all others.
func TestFind_AsksForTheID(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	for _, c := range []acs.DeviceConfig{
		{Serial: "S1"}, {Serial: "C-1 x"}, {Serial: "1.5/é%2D_", ProductClass: "Box (2)"}, {Serial: "0123"},
		{Serial: "123", NoClass: true},
	} {
		id := k.add(c)
		before := len(k.sim.Requests())
		made := k.read(id)
		d, err := k.Find(t.Context(), "00D09E", made.ProductClass, c.Serial)
		if err != nil || d.ID != id || d.Serial != c.Serial {
			t.Errorf("%q: %+v, %v", c.Serial, d, err)
		}
		for _, r := range k.sim.Requests()[before:] {
			if strings.Contains(r, "_SerialNumber") {
				t.Errorf("%q: looked at all: %s", c.Serial, r)
			}
		}
	}
}

// TestFind_ADeviceThatWritesItselfOtherwise has space round its serial number or small letters in its OUI. Of several
// nobody knows which one is meant, unless one writes itself in normal form.
func TestFind_ADeviceThatWritesItselfOtherwise(t *testing.T) {
	t.Parallel()
	k := newKit(t, acs.Config{})
	is := func(want genieacs.DeviceID, fails error) {
		t.Helper()
		d, err := k.Find(t.Context(), "00D09E", "HomeBox-2", "S.1")
		if d.ID != want || !errors.Is(err, fails) {
			t.Errorf("found %q, %v", d.ID, err)
		}
	}
	is("", genieacs.ErrUnknownDevice)
	k.add(acs.DeviceConfig{Serial: "Sx1 "}) // the dot is no pattern
	k.add(acs.DeviceConfig{Serial: " S.1", ProductClass: "Other"})
	is("", genieacs.ErrUnknownDevice)
	is(k.add(acs.DeviceConfig{Serial: " S.1 ", OUI: "00d09e"}), nil)
	k.add(acs.DeviceConfig{Serial: "S.1 "})
	is("", genieacs.ErrAmbiguous)
	is(k.add(acs.DeviceConfig{Serial: "S.1"}), nil)
}
