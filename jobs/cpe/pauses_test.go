package cpejobs_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// box begins the ids of the faults of the one CPE.
const box = "00AABB-SN%2D1:"

// has gives the ids of faults on some channels, in the server's order.
func has(channels ...string) (ids []string) {
	for _, channel := range channels {
		ids = append(ids, box+channel)
	}
	slices.Sort(ids)
	return ids
}

// cleared gives the channels whose faults were cleared.
func (k polled) cleared() (channels []string) {
	k.server.mu.Lock()
	defer k.server.mu.Unlock()
	for _, path := range k.server.cleared {
		channels = append(channels, path[strings.LastIndex(path, ":")+1:])
	}
	k.server.cleared = nil
	slices.Sort(channels)
	return channels
}

// TestPauses_ThoseOfBeforeTheClaimEnd: of the platform's presets, and of scripts of organizations, whoever has them or
// had them. Those of the server's operator and of tasks stay, and all that the organization sees.
func TestPauses_ThoseOfBeforeTheClaimEnd(t *testing.T) {
	t.Parallel()
	k := polls(t)
	*k.scripts = []cpeviews.ProvisionRow{
		{OrgID: id.New[id.Organization](), StoredName: "acme-wifi", State: cpeviews.ProvisionInstalled},
		{OrgID: id.New[id.Organization](), StoredName: "acme-gone", State: cpeviews.ProvisionRemoved},
	}
	all := has("acme-gone", "acme-wifi", "default", "lastmile-bootstrap", "lastmile-leaving",
		"task_0123456789abcdef01234567")
	if err := k.poll(all...); err != nil {
		t.Fatal(err)
	}
	if got := k.cleared(); len(got) > 0 {
		t.Errorf("cleared %v, which the organization sees", got)
	}
	later := k.now.Now().Add(time.Minute)
	k.row.ClaimedAt = &later
	for name, poll := range map[string]func() error{
		"reading": func() error { return k.poll(all...) },
		"claim": func() error {
			k.server.ids = all
			return k.Pauses.End(t.Context(), *k.row, oneBox)
		},
		"reading of loops": func() error {
			k.server.code = genieacs.LoopCode
			defer func() { k.server.code = "cwmp.9002" }()
			return k.poll(all...)
		},
		"release": func() error {
			k.server.ids = all
			return k.Pauses.End(t.Context(), cpeviews.CPERow{ID: k.row.ID}, oneBox)
		},
	} {
		if err := poll(); err != nil {
			t.Fatal(err)
		}
		want := []string{"acme-gone", "acme-wifi", "lastmile-bootstrap", "lastmile-leaving"}
		if got := k.cleared(); !slices.Equal(got, want) {
			t.Errorf("%s: cleared %v", name, got)
		}
	}
	k.row.OrgID, k.row.ClaimedAt = id.Organization{}, nil
	for _, code := range []string{"cwmp.9002", genieacs.LoopCode} {
		k.server.code = code
		if err := k.poll(slices.DeleteFunc(slices.Clone(all), func(fault string) bool {
			return code == genieacs.LoopCode && strings.Contains(fault, "lastmile-") // of these nothing is known
		})...); err != nil {
			t.Fatal(err)
		}
		if got := k.cleared(); !slices.Equal(got, []string{"acme-gone", "acme-wifi"}) {
			t.Errorf("%s: cleared %v of a device that nobody has, at each reading", code, got)
		}
	}
}

// TestPauses_WhatASessionNotesMeanwhileEndsToo: the device was in a session at its release, in which a script has
// failed once more, or for the first time.
func TestPauses_WhatASessionNotesMeanwhileEndsToo(t *testing.T) {
	t.Parallel()
	again := func(k polled) { k.server.at = k.server.at.Add(time.Second) }
	first := func(k polled) { k.server.ids = has("acme-late", "acme-wifi") }
	for name, c := range map[string]struct {
		notes func(k polled)
		more  bool // at each look
		want  []string
	}{
		"once more":          {notes: again, want: []string{"acme-wifi"}},
		"for the first time": {notes: first, want: []string{"acme-late", "acme-wifi"}},
		"again and again":    {notes: again, more: true},
	} {
		k := polls(t)
		*k.scripts = []cpeviews.ProvisionRow{{StoredName: "acme-wifi"}, {StoredName: "acme-late"}}
		k.server.ids = has("acme-wifi")
		k.server.before = func() {
			c.notes(k)
			if !c.more {
				k.server.before = nil
			}
		}
		err := k.Pauses.End(t.Context(), cpeviews.CPERow{ID: k.row.ID}, oneBox)
		if c.more != errors.Is(err, genieacs.ErrInSession) || !c.more && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := k.cleared(); !slices.Equal(got, c.want) {
			t.Errorf("%s: cleared %v", name, got)
		}
	}
}

// TestPauses_WhoWasAskingAsksAgain: with the fault of a script that asks the platform, the server forgets that it has
// to ask again. So the device is told to, before.
func TestPauses_WhoWasAskingAsksAgain(t *testing.T) {
	t.Parallel()
	const asks = "/devices/00AABB-SN%2D1/tags/" + genieacs.Unidentified + " 0"
	for name, c := range map[string]struct {
		channel string
		change  func(k polled)
		want    []string
	}{
		"bootstrap before the claim": {"lastmile-bootstrap", func(k polled) {
			*k.row.ClaimedAt = k.now.Now().Add(time.Minute)
		}, []string{asks}},
		"sign-in before the claim": {"lastmile-sign-in", func(k polled) {
			*k.row.ClaimedAt = k.now.Now().Add(time.Minute)
		}, []string{asks}},
		"that never rests": {"lastmile-bootstrap", func(k polled) {
			k.server.code = genieacs.LoopCode
		}, []string{asks}},
		"one that asks nobody": {"lastmile-leaving", func(k polled) { k.server.code = genieacs.LoopCode }, nil},
	} {
		k := polls(t)
		c.change(k)
		if err := k.poll(has(c.channel)...); err != nil {
			t.Fatal(err)
		}
		if got := k.cleared(); !slices.Equal(got, []string{c.channel}) || !slices.Equal(k.server.tagged, c.want) {
			t.Errorf("%s: cleared %v, tagged %v", name, got, k.server.tagged)
		}
	}
	k := polls(t)
	if err := k.poll(has("lastmile-bootstrap")...); err != nil {
		t.Fatal(err)
	}
	if err := k.Clear(t.Context(), k.shows(1, k.now.Now())); err != nil { // somebody asks for it
		t.Fatal(err)
	}
	if got := k.cleared(); len(got) != 1 || !slices.Equal(k.server.tagged, []string{asks}) {
		t.Errorf("cleared %v, tagged %v", got, k.server.tagged)
	}
}

// TestPauses_TheServersClockMayDiffer: which faults are older than the claim is known all the same.
func TestPauses_TheServersClockMayDiffer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ahead, after time.Duration // of the server's clock; of the fault, after the claim
		shown        int
	}{
		"ahead, before the claim":  {ahead: 10 * time.Minute, after: -5 * time.Minute},
		"ahead, after the claim":   {ahead: 10 * time.Minute, after: 5 * time.Minute, shown: 1},
		"behind, before the claim": {ahead: -10 * time.Minute, after: -5 * time.Minute},
		"behind, after the claim":  {ahead: -10 * time.Minute, after: 5 * time.Minute, shown: 1},
	} {
		k := polls(t)
		k.now.Advance(time.Hour)
		k.server.ahead, k.server.at = c.ahead, k.row.ClaimedAt.Add(c.after+c.ahead)
		if err := k.poll(has("lastmile-leaving")...); err != nil {
			t.Fatal(err)
		}
		k.shows(c.shown, k.now.Now())
		if got := k.cleared(); len(got) != 1-c.shown {
			t.Errorf("%s: cleared %v", name, got)
		}
		k.server.ids = has("lastmile-leaving")
		faults, err := k.Gateway.DeviceFaults(t.Context(), oneBox)
		if err != nil || len(faults) != 1 ||
			faults[0].Happened().Sub(k.row.ClaimedAt.Add(c.after)).Abs() > time.Second { // it tells whole ones
			t.Errorf("%s: %+v (%v)", name, faults, err)
		}
	}
}

// TestPauses_AScriptThatNeverRestsIsRefusedWhenItIsCertain, and ours go on whoever it was.
func TestPauses_AScriptThatNeverRestsIsRefusedWhenItIsCertain(t *testing.T) {
	t.Parallel()
	ours := []string{"lastmile-health", "lastmile-leaving"}
	for name, c := range map[string]struct {
		channels []string
		change   func(row *cpeviews.ProvisionRow)
		refused  bool
	}{
		"the only one":             {channels: append(ours, "acme-turns"), refused: true},
		"two scripts":              {channels: append(ours, "acme-other", "acme-turns")},
		"a preset of the operator": {channels: append(ours, "acme-turns", "default")},
		"without ours":             {channels: []string{"acme-turns"}},
		"ours alone":               {channels: ours},
		"with one that asks":       {channels: append([]string{"lastmile-bootstrap"}, append(ours, "acme-turns")...)},
		"with the sign-in":         {channels: append(ours, "acme-turns", "lastmile-sign-in")},
		"of nobody":                {channels: append(ours, "inform")},
		"another version by now":   {channels: append(ours, "acme-turns"), change: settledAgain},
		"not at the server":        {channels: append(ours, "acme-turns"), change: removed},
		"of another organization":  {channels: append(ours, "acme-turns"), change: foreign},
		"refused, and still at the server": {
			channels: append(ours, "acme-turns"), change: refusedBefore, refused: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := polls(t)
			settled := k.now.Now().Add(-time.Hour)
			row := cpeviews.ProvisionRow{
				ID: id.New[id.CPEProvision](), OrgID: k.row.OrgID, StoredName: "acme-turns",
				State: cpeviews.ProvisionInstalled, SettledAt: &settled,
			}
			other := row
			other.StoredName = "acme-other"
			if c.change != nil {
				c.change(&row)
			}
			*k.scripts = []cpeviews.ProvisionRow{row, other}
			k.server.code = genieacs.LoopCode
			if err := k.poll(has(slices.Clone(c.channels)...)...); err != nil {
				t.Fatal(err)
			}
			if got := *k.refused; c.refused != slices.Equal(got, []string{"acme-turns"}) || !c.refused && len(got) > 0 {
				t.Errorf("refused %v", got)
			}
			want := slices.DeleteFunc(slices.Clone(c.channels), func(channel string) bool {
				return !strings.HasPrefix(channel, "lastmile-")
			})
			if got := k.cleared(); !slices.Equal(got, want) {
				t.Errorf("cleared %v", got)
			}
		})
	}
}

// settledAgain is a script that the server has got a moment before the fault: it may be of the version before.
func settledAgain(row *cpeviews.ProvisionRow) {
	late := row.SettledAt.Add(time.Hour - time.Second)
	row.SettledAt = &late
}

// removed is a script that was taken back.
func removed(row *cpeviews.ProvisionRow) { row.State = cpeviews.ProvisionRemoved }

// foreign is a script of another organization, which cannot have run for this one.
func foreign(row *cpeviews.ProvisionRow) { row.OrgID = id.New[id.Organization]() }

// refusedBefore is a script that was refused when the server was out of reach.
func refusedBefore(row *cpeviews.ProvisionRow) {
	row.State, row.ErrorCode = cpeviews.ProvisionRefused, null.Of(genieacs.LoopCode)
}
