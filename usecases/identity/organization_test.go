package identitycases_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
)

// state is an organization, and its revision, as the log has it.
func (k *kit) state(org id.Organization) (identity.Organization, uint64) {
	k.t.Helper()
	state, revision, err := bus.LoadOwned[identity.Organization](k.t.Context(), k.Bus, org, org)
	k.must(err)
	return state, revision
}

func TestCreateOrganization_WithItsAdministrator(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := newOrganization("net-one", "Boss@Net.test ")
	in.Admin.Role = events.RoleSubscriber // ignored: the person becomes an administrator
	made, err := k.Organizations.Create(t.Context(), asked(id.Organization{}, "a"), in)
	k.must(err)
	state, _ := k.state(made.ID)
	if state.Billing.InvoicePrefix != "NETONE" || state.Billing.Currency != money.KES ||
		len(state.Billing.Tax.Components) != 1 {
		t.Errorf("%+v", state)
	}
	boss := k.known("boss@net.test", made.Done)
	if m, ok := k.member(boss, made.ID); !ok || m.Role != events.RoleAdmin || m.Pending {
		t.Errorf("administrator: %+v", m)
	}
	signed, err := k.SignIns.SignIn(t.Context(), public(made.ID), credentials("boss@net.test", temporary))
	k.must(err)
	if !signed.User.MustChangePassword || signed.Role != events.RoleAdmin {
		t.Errorf("%+v", signed)
	}
	// an address that is known elsewhere gets a user of its own here
	second := newOrganization("net-two", "olga@other.test")
	second.Country, second.Currency, second.Timezone = "UG", "UGX", "Africa/Kampala"
	made, err = k.Organizations.Create(t.Context(), asked(id.Organization{}, "b"), second)
	k.must(err)
	k.shown(made.Done)
	if _, member := k.member(k.olga, made.ID); member || !k.has(k.olga, chosen) {
		t.Error("another organization's user was made the administrator, or has another password")
	}
	signed, err = k.SignIns.SignIn(t.Context(), public(made.ID), credentials("olga@other.test", temporary))
	if err != nil || signed.Role != events.RoleAdmin {
		t.Errorf("the administrator: %+v, %v", signed, err)
	}
	if state, _ := k.state(made.ID); state.Billing.Currency != "UGX" || len(state.Billing.Tax.Components) != 0 {
		t.Errorf("%+v", state)
	}
}

func TestCreateOrganization_AllFaultsAreToldBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	in := newOrganization("www", "no address")
	in.Admin.TemporaryPassword, in.Name, in.Timezone = "short", " ", "Mars/Base"
	_, err := k.Organizations.Create(t.Context(), asked(id.Organization{}, "a"), in)
	var f *failure.Error
	if !errors.As(err, &f) || f.Kind != failure.Invalid {
		t.Fatalf("%v", err)
	}
	told := strings.Join(f.Faults, "\n")
	for _, field := range []string{"slug ", "name ", "timezone ", "admin.email ", "admin.temporaryPassword "} {
		if !strings.Contains(told, field) {
			t.Errorf("%s is not among the faults: %s", field, told)
		}
	}
	if strings.Contains(told, "invoicePrefix") {
		t.Errorf("a fault that nobody can mend: %s", told)
	}
	org := usecases.NewID[id.Organization](asked(id.Organization{}, "a"), "organization")
	_, _, err = bus.LoadOwned[identity.Organization](t.Context(), k.Bus, org, org)
	k.fails(err, "organization_not_found")
	_, err = k.Organizations.Create(t.Context(), asked(id.Organization{}, "b"), newOrganization("acme", "x@y.test"))
	k.fails(err, "slug_taken")
}

func TestCreateOrganization_ARepeatCompletesWhatAStopLeft(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for i, stopped := range []string{"before anything", "after the organization", "after all"} {
		slug, email := "net-"+string(rune('a'+i)), "boss"+string(rune('a'+i))+"@net.test"
		in, ask := newOrganization(slug, email), asked(id.Organization{}, slug)
		org := usecases.NewID[id.Organization](ask, "organization")
		if i > 0 {
			_, err := k.Bus.Execute(t.Context(), commands.CreateOrganization{
				OrgID: org, Slug: slug, Name: in.Name, Billing: events.BillingSettings{
					Timezone: "Africa/Nairobi", Currency: money.KES, Country: "KE",
					InvoicePrefix: "TAKEN" + string(rune('A'+i)),
				},
			}, ask.Meta)
			k.must(err)
		}
		user := id.Derive[id.User]("user", usecases.NewID[id.Any](ask, "admin").String())
		if i > 1 {
			_, err := k.Organizations.Create(t.Context(), ask, in)
			k.must(err)
		}
		first, err := k.Organizations.Create(t.Context(), ask, in)
		if err != nil {
			t.Fatalf("%s: %v", stopped, err)
		}
		again, err := k.Organizations.Create(t.Context(), ask, in)
		if err != nil || again.ID != first.ID || again.Done.Revision != first.Done.Revision {
			t.Errorf("%s: first %+v, then %+v, %v", stopped, first, again, err)
		}
		if _, revision := k.state(org); first.ID != org || revision != 1 || !k.has(user, temporary) {
			t.Errorf("%s: the organization was written %d times more", stopped, revision)
		}
		if got := k.known(email, again.Done); got != user {
			t.Errorf("%s: a second administrator %s", stopped, got)
		}
	}
}

func TestCreateOrganization_SlugsThatBeginAlikeAtOnce(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	prefixes, refused := sync.Map{}, sync.Map{}
	var all sync.WaitGroup
	for i, slug := range []string{"fibre-north", "fibre-northwest", "fibrenorth", "fibre-north"} {
		all.Go(func() {
			in := newOrganization(slug, "x@y.test")
			in.Admin.Email = personal.Of(strings.Repeat("x", i+1) + "@y.test")
			made, err := k.Organizations.Create(t.Context(), asked(id.Organization{}, string(rune('a'+i))), in)
			if err != nil {
				refused.Store(failure.CodeOf(err), slug)
				return
			}
			state, _ := k.state(made.ID)
			if before, taken := prefixes.LoadOrStore(state.Billing.InvoicePrefix, slug); taken {
				t.Errorf("%s and %s have one prefix", slug, before)
			}
		})
	}
	all.Wait()
	if slug, ok := refused.Load("slug_taken"); !ok || slug != "fibre-north" {
		t.Errorf("one slug went to two organizations, or: %v", slug)
	}
	made := 0
	prefixes.Range(func(any, any) bool { made++; return true })
	if made != 3 {
		t.Errorf("%d organizations, want 3", made)
	}
}

func TestCreateOrganization_ASlugOfAReservedWordGetsAnotherPrefix(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for slug, want := range map[string]string{
		"house": "NHOUSE", "rm": "NRM", "room-24": "NROOM2", "mpesa-x": "MPESAX",
	} {
		in := newOrganization(slug, slug+"@y.test")
		made, err := k.Organizations.Create(t.Context(), asked(id.Organization{}, slug), in)
		if err != nil {
			t.Errorf("%s: %v", slug, err)
			continue
		}
		if state, _ := k.state(made.ID); state.Billing.InvoicePrefix != want {
			t.Errorf("%s has %s, want %s", slug, state.Billing.InvoicePrefix, want)
		}
	}
}
