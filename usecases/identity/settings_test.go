package identitycases_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/usecases/identity"
)

func TestChangeSettings_WhatIsGivenAndTheName(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	name, pin, slug := " Acme Networks ", " P051234567X ", "acme"
	holidays := []calendar.Date{{Year: 2026, Month: 12, Day: 25}}
	done, err := k.Settings.Change(t.Context(), asked(k.acme, "a"), identitycases.SettingsChange{
		Slug: &slug, Name: &name, TaxPIN: &pin, Holidays: &holidays, Tax: &identitycases.Tax{
			Components: []identitycases.TaxComponent{
				{Name: "VAT", Percent: "16"}, {Name: "Levy", Percent: "1.25", Compound: true},
			},
		},
	})
	k.must(err)
	state, revision := k.state(k.acme)
	b := state.Billing
	if state.Name != "Acme Networks" || b.TaxPIN != "P051234567X" || b.Timezone != "Africa/Nairobi" ||
		b.Tax.Inclusive || b.Tax.Components[1] != (events.TaxComponent{Name: "Levy", BasisPoints: 125,
		Compound: true}) ||
		b.Holidays[0] != holidays[0] || done.Revision != revision {
		t.Errorf("%+v at %d, answered %d", state, revision, done.Revision)
	}
	same, err := k.Settings.Change(t.Context(), asked(k.acme, "b"), identitycases.SettingsChange{})
	if err != nil || same.Changed || same.Revision != revision {
		t.Errorf("nothing was asked for: %+v, %v", same, err)
	}
}

func TestChangeSettings_Refusals(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	_, before := k.state(k.acme)
	slug, currency, prefix, zone, name := "other", "UGX", "OTHER", "Mars/Base", " "
	_, err := k.Settings.Change(t.Context(), asked(k.acme, "slug"), identitycases.SettingsChange{
		Slug: &slug, Name: &name,
	})
	k.fails(err, "invalid_input")
	_, err = k.Settings.Change(t.Context(), asked(k.acme, "currency"), identitycases.SettingsChange{
		Currency: &currency,
	})
	k.fails(err, "currency_fixed")
	_, err = k.Settings.Change(t.Context(), asked(k.acme, "prefix"), identitycases.SettingsChange{
		InvoicePrefix: &prefix,
	})
	k.fails(err, "invoice_prefix_taken")
	_, err = k.Settings.Change(t.Context(), asked(id.New[id.Organization](), "x"),
		identitycases.SettingsChange{Name: &slug})
	k.fails(err, "organization_not_found")
	stale, revision := asked(k.acme, "stale"), before+7
	stale.Meta.ExpectedRevision = &revision
	_, err = k.Settings.Change(t.Context(), stale, identitycases.SettingsChange{Name: &slug})
	k.fails(err, "stale_revision")
	_, err = k.Settings.Change(t.Context(), asked(k.acme, "all"), identitycases.SettingsChange{
		Timezone: &zone, Name: &name, Tax: &identitycases.Tax{
			Components: []identitycases.TaxComponent{{Name: "V", Percent: "1.234"}},
		},
	})
	var f *failure.Error
	if !errors.As(err, &f) {
		t.Fatalf("%v", err)
	}
	for _, field := range []string{"tax ", "timezone ", "name "} {
		if !strings.Contains(strings.Join(f.Faults, "\n"), field) {
			t.Errorf("%s is not among %v", field, f.Faults)
		}
	}
	if _, after := k.state(k.acme); after != before {
		t.Error("a refused change was half made")
	}
}

func TestChangeSettings_ARepeatCompletesTheRename(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ask, name, pin := asked(k.acme, "a"), "Acme Networks", "P051234567X"
	// the first try stops before the name
	_, err := k.Settings.Change(t.Context(), ask, identitycases.SettingsChange{TaxPIN: &pin})
	k.must(err)
	both := identitycases.SettingsChange{TaxPIN: &pin, Name: &name}
	first, err := k.Settings.Change(t.Context(), ask, both)
	k.must(err)
	later := "P051234568Y" // another change between the lost answer and the repeat
	_, err = k.Settings.Change(t.Context(), asked(k.acme, "b"), identitycases.SettingsChange{TaxPIN: &later})
	k.must(err)
	again, err := k.Settings.Change(t.Context(), ask, both)
	if err != nil || again.Revision != first.Revision {
		t.Errorf("first %+v, then %+v, %v", first, again, err)
	}
	if state, _ := k.state(k.acme); state.Name != name || state.Billing.TaxPIN != later {
		t.Errorf("%+v", state)
	}
}

func TestChangeSettings_DifferentFieldsAtOnceBothCount(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	pin, zone, country := "P051234567X", "Africa/Kampala", "UG"
	var all sync.WaitGroup
	for key, in := range map[string]identitycases.SettingsChange{
		"a": {TaxPIN: &pin}, "b": {Timezone: &zone}, "c": {Country: &country},
	} {
		all.Go(func() {
			if _, err := k.Settings.Change(t.Context(), asked(k.acme, key), in); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		})
	}
	all.Wait()
	if state, _ := k.state(k.acme); state.Billing.TaxPIN != pin || state.Billing.Timezone != zone ||
		state.Billing.Country != country {
		t.Errorf("one was lost: %+v", state.Billing)
	}
}

func TestSettings_OldPrefixesAreHeldWhileTheirInvoicesAreOpen(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	change := func(org id.Organization, prefix string) error {
		_, err := k.Settings.Change(t.Context(), public(org), identitycases.SettingsChange{InvoicePrefix: &prefix})
		return err
	}
	k.open["ACME"] = true
	k.must(change(k.acme, "NET"))
	k.fails(change(k.other, "ACME"), "invoice_prefix_taken")
	k.fails(change(k.acme, "THIRD"), "invoice_prefix_held") // nobody hoards prefixes by changing through them
	k.must(change(k.acme, "ACME"))                          // back again: it is held
	k.must(change(k.acme, "BACK"))                          // which gives up NET: it has no invoices
	k.must(change(k.other, "NET"))
	k.open["ACME"] = false
	k.must(change(k.acme, "LAST")) // ACME is settled by now
	k.must(change(k.other, "ACME"))
}

func TestSettings_ASettledPrefixIsReleasedOnTheNextDay(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	change := func(org id.Organization, prefix string) error {
		done, err := k.Settings.Change(t.Context(), public(org), identitycases.SettingsChange{InvoicePrefix: &prefix})
		if err == nil {
			coretest.WaitFor(t, k.users.Views, done.Position, identityviews.OrganizationsName)
		}
		return err
	}
	daily := func() { // on each of two replicas
		t.Helper()
		for range 2 {
			k.must(k.Settings.ReleaseSettled(t.Context(), k.clock.Now()))
		}
	}
	k.open["ACME"] = true
	k.must(change(k.acme, "NET"))
	daily()
	k.fails(change(k.other, "ACME"), "invoice_prefix_taken") // something is due under it
	k.open["ACME"] = false
	k.clock.Advance(24 * time.Hour)
	daily()
	state, revision := k.state(k.acme)
	if !slices.Equal(state.Prefixes, []string{"NET"}) {
		t.Errorf("holds %v", state.Prefixes)
	}
	k.must(change(k.other, "ACME"))
	daily() // nothing is left of it, and the present prefixes stay
	if again, now := k.state(k.acme); now != revision || again.Billing.InvoicePrefix != "NET" {
		t.Errorf("%+v at %d, was at %d", again, now, revision)
	}
}

func TestSettings_ARepeatedReleaseOfOneDayActsOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	change := func(prefix string) {
		t.Helper()
		done, err := k.Settings.Change(t.Context(), public(k.acme), identitycases.SettingsChange{
			InvoicePrefix: &prefix,
		})
		k.must(err)
		coretest.WaitFor(t, k.users.Views, done.Position, identityviews.OrganizationsName)
	}
	change("NET")
	k.must(k.Settings.ReleaseSettled(t.Context(), k.clock.Now()))
	change("ACME") // back to it within the day, and away again
	change("LAST")
	_, before := k.state(k.acme)
	k.must(k.Settings.ReleaseSettled(t.Context(), k.clock.Now().Add(time.Hour)))
	state, after := k.state(k.acme)
	if !slices.Equal(state.Prefixes, []string{"ACME", "LAST"}) {
		t.Errorf("a repeat of the day's release gave up what came later: %v, %d to %d", state.Prefixes, before, after)
	}
	k.must(k.Settings.ReleaseSettled(t.Context(), k.clock.Now().Add(24*time.Hour)))
	if state, _ := k.state(k.acme); !slices.Equal(state.Prefixes, []string{"LAST"}) {
		t.Errorf("on the next day: %v", state.Prefixes)
	}
}

func TestSettings_AnOrganizationWhosePrefixesCannotBeReadKeepsNoOtherWaiting(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for org, prefix := range map[id.Organization]string{k.acme: "NET", k.other: "ISP"} {
		done, err := k.Settings.Change(t.Context(), public(org), identitycases.SettingsChange{InvoicePrefix: &prefix})
		k.must(err)
		coretest.WaitFor(t, k.users.Views, done.Position, identityviews.OrganizationsName)
	}
	broken, fault := k.Settings, errors.New("no rows for you")
	first, second := k.acme, k.other // in the order of the list
	if second.String() < first.String() {
		first, second = second, first
	}
	broken.PrefixOpen = func(_ context.Context, org id.Organization, _ string) (bool, error) {
		if org == first {
			return false, fault
		}
		return false, nil
	}
	if err := broken.ReleaseSettled(t.Context(), k.clock.Now()); !errors.Is(err, fault) {
		t.Errorf("the fault is not told: %v", err)
	}
	if state, _ := k.state(second); len(state.Prefixes) != 1 {
		t.Errorf("the other holds %v", state.Prefixes)
	}
}
