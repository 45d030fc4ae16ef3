package cpecases_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/cpe"
	"github.com/lastmile-isp/lastmile/aggregates/identity"
	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/storetest"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases/cpe"
)

// box is the identity of the CPE of these tests.
var box = events.CpeIdentity{SerialNumber: "SN-1", OUI: "00AABB", ProductClass: "ONT"}

// calls notes which CPEs have called, in place of their store.
type calls struct {
	mu    sync.Mutex
	heard []id.Organization
	moved []id.Organization
	// admitted are the serial numbers of those that wait, each with why it cannot be claimed; full admits none.
	admitted []string
	full     bool
}

// Heard implements cpecases.Informs.
func (c *calls) Heard(_ id.CPE, org id.Organization) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, org)
}

// Admit implements cpecases.Informs.
func (c *calls) Admit(_ context.Context, of commands.CpeCaller, refused string) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full {
		return false, nil
	}
	c.admitted = append(c.admitted, of.Identity.SerialNumber+refused)
	return true, nil
}

// RemovePending implements cpecases.Informs.
func (c *calls) RemovePending(context.Context, id.CPE) (bool, error) { return !c.full, nil }

// Move implements cpecases.Informs.
func (c *calls) Move(_ context.Context, _ id.CPE, org id.Organization) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = append(c.moved, org)
	return nil
}

// kit has a log and a vault with the use cases of CPEs. Its read model knows nothing, as one that is rebuilt.
type kit struct {
	*coretest.Kit
	t     *testing.T
	calls *calls
	cpecases.CPEs
}

// newKit registers all aggregates of which a CPE is told something.
func newKit(t *testing.T) *kit {
	t.Helper()
	k := &kit{Kit: coretest.NewWithVault(t, vault.Config{Clock: clock.System()}), t: t, calls: &calls{}}
	bus.Register(k.Kit.Bus, cpe.CPEs())
	bus.Register(k.Kit.Bus, identity.Organizations())
	bus.Register(k.Kit.Bus, identity.Users())
	bus.Register(k.Kit.Bus, subscribers.Subscribers())
	bus.Register(k.Kit.Bus, subscribers.Subscriptions())
	bus.Register(k.Kit.Bus, subscribers.Plans())
	k.CPEs = cpecases.CPEs{
		Bus: k.Kit.Bus, Secrets: k.Vault.Secrets, Informs: k.calls, Logger: storetest.Quiet(),
		Passwords: cpecases.NewPasswords(k.Vault.Secrets),
		Told:      func(id.CPE) (cpeviews.Told, bool) { return cpeviews.Told{}, false },
	}
	return k
}

// hook is a new question of the CPE server.
func hook() commands.Meta {
	return commands.Meta{
		CommandID: id.New[id.Command](), Actor: events.Actor{Kind: events.ActorProcess, ID: "cpe server"},
	}
}

// asks lets the CPE server ask about a CPE, and ends the test when it is refused.
func (k *kit) asks(i events.CpeIdentity) cpecases.Identification {
	k.t.Helper()
	told, err := k.Identify(k.t.Context(), hook(), i, "")
	if err != nil {
		k.t.Fatal(err)
	}
	return told
}

// TestIdentify_TwoFirstCallsMakeOneCpe: any number of calls at once, each of which is told the same.
func TestIdentify_TwoFirstCallsMakeOneCpe(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			told, err := k.Identify(t.Context(), hook(), events.CpeIdentity{
				SerialNumber: " SN-1", OUI: "00aabb", ProductClass: "ONT",
			}, "10.20.0.5")
			if err != nil || told.Known || told.OrgSlug != "" || len(told.Tags) != 0 || len(told.Parameters) != 4 {
				t.Errorf("told %+v, %v", told, err)
			}
		})
	}
	all.Wait()
	list, err := bus.HistoryUnchecked[cpe.CPE](t.Context(), k.Kit.Bus, commands.CpeID(box))
	if err != nil || len(list) != 1 {
		t.Errorf("%d events, %v", len(list), err)
	}
	if len(k.calls.heard) != 16 {
		t.Errorf("%d calls were noted", len(k.calls.heard))
	}
}

// TestIdentify_RefusesWhatIsNoIdentity, and records nothing of it.
func TestIdentify_RefusesWhatIsNoIdentity(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, i := range []events.CpeIdentity{
		{}, {SerialNumber: "SN-1"}, {OUI: "00AABB"}, {SerialNumber: strings.Repeat("9", 65), OUI: "00AABB"},
	} {
		_, err := k.Identify(t.Context(), hook(), i, "")
		if failure.KindOf(err) != failure.Invalid {
			t.Errorf("%+v: %v", i, err)
		}
	}
	if len(k.calls.heard) != 0 {
		t.Errorf("noted %v", k.calls.heard)
	}
}

// TestIdentify_TheLogAnswersWhileTheMemoryIsBehind: a CPE that was claimed and has a customer gets tags and login
// from the log, and loses the login when the service ends.
func TestIdentify_TheLogAnswersWhileTheMemoryIsBehind(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.asks(box)
	acme, amina := id.New[id.Organization](), id.New[id.Subscriber]()
	k.Run(t, coretest.Operator(id.Organization{}), coretest.NewOrganization(acme, "acme"))
	k.Run(t, coretest.Operator(acme), coretest.NewSubscriber(amina, acme, 0))
	claim := cpecases.Claim{CpeID: commands.CpeID(box)}
	if _, err := k.Claim(t.Context(), coretest.Ask(acme), claim); err != nil {
		t.Fatal(err)
	}
	told := k.asks(box)
	if !told.Known || told.OrgSlug != "acme" || !slices.Equal(told.Tags, []string{"org:acme"}) ||
		len(told.Parameters) != 4 {
		t.Errorf("without a customer: %+v", told)
	}
	line := k.line(acme, amina)
	k.Run(t, coretest.Operator(acme), commands.AssignSubscriberToCpe{
		CpeID: claim.CpeID, SubscriberID: amina, SubscriptionID: line,
	})
	told = k.asks(box)
	want := []string{"org:acme", "sub:amina", "plan:home"}
	if !slices.Equal(told.Tags, want) || len(told.Parameters) != 10 || told.Parameters[5].Value.Reveal() != "s3cret" {
		t.Errorf("with a customer: %+v", told)
	}
	k.Run(t, coretest.Operator(acme), commands.EndSubscription{SubscriptionID: line, Reason: "moved away"})
	if told = k.asks(box); !slices.Equal(told.Tags, want[:1]) || len(told.Parameters) != 4 {
		t.Errorf("after the end: %+v", told)
	}
	if _, err := k.Release(t.Context(), coretest.Ask(acme), claim.CpeID); err != nil {
		t.Fatal(err)
	}
	if told = k.asks(box); told.Known || len(told.Tags) != 0 || len(told.Parameters) != 4 {
		t.Errorf("released: %+v", told)
	}
	if !slices.Equal(k.calls.moved, []id.Organization{acme, {}}) {
		t.Errorf("moved to %v", k.calls.moved)
	}
}

// TestClaim_WhoeverHasItItIsClaimed: to the own and to another organization; nothing else of it is told to the other.
func TestClaim_WhoeverHasItItIsClaimed(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.asks(box)
	acme, rival := id.New[id.Organization](), id.New[id.Organization]()
	claim := cpecases.Claim{CpeID: commands.CpeID(box)}
	one := coretest.Ask(acme)
	for range 2 { // the same request again is no second claim
		if _, err := k.Claim(t.Context(), one, claim); err != nil {
			t.Fatal(err)
		}
	}
	for _, org := range []id.Organization{acme, rival} {
		if _, err := k.Claim(t.Context(), coretest.Ask(org), claim); failure.CodeOf(err) != "already_claimed" {
			t.Errorf("%v", err)
		}
	}
	if _, err := k.Release(t.Context(), coretest.Ask(rival), claim.CpeID); failure.CodeOf(err) != "cpe_not_found" {
		t.Errorf("released by another: %v", err)
	}
	_, err := k.AssignSubscriber(t.Context(), coretest.Ask(rival), cpecases.Assignment{
		CpeID: claim.CpeID, SubscriberID: id.New[id.Subscriber](),
	})
	if failure.CodeOf(err) != "cpe_not_found" {
		t.Errorf("given by another: %v", err)
	}
	unknown := cpecases.Claim{CpeID: id.New[id.CPE]()}
	if _, err := k.Claim(t.Context(), coretest.Ask(acme), unknown); failure.CodeOf(err) != "cpe_not_found" {
		t.Errorf("of an unknown one: %v", err)
	}
}

// TestClaim_OfManyAtOnceOneWins, whatever organizations they are of.
func TestClaim_OfManyAtOnceOneWins(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.asks(box)
	var won, lost sync.Map
	var all sync.WaitGroup
	for n := range 12 {
		all.Go(func() {
			asked := coretest.Ask(id.New[id.Organization]())
			_, err := k.Claim(t.Context(), asked, cpecases.Claim{CpeID: commands.CpeID(box)})
			switch failure.CodeOf(err) {
			case "":
				won.Store(n, asked.Org())
			case "already_claimed":
				lost.Store(n, true)
			default:
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	count := func(m *sync.Map) (n int) {
		m.Range(func(any, any) bool { n++; return true })
		return n
	}
	if count(&won) != 1 || count(&lost) != 11 {
		t.Errorf("%d won and %d lost", count(&won), count(&lost))
	}
}

// line gives a customer a plan, with a login in the vault.
func (k *kit) line(org id.Organization, of id.Subscriber) id.Subscription {
	k.t.Helper()
	line, ref := id.New[id.Subscription](), id.New[id.Secret]()
	secret := vault.Secret{Ref: ref, OrgID: org, Purpose: commands.NetworkPasswordPurpose}
	if err := k.Vault.Secrets.Put(k.t.Context(), secret, []byte("s3cret")); err != nil {
		k.t.Fatal(err)
	}
	plan, terms := id.New[id.Plan](), events.PlanTerms{
		Name: "Home", Kind: "pppoe", Price: money.Major(2000, money.KES), Mode: events.Prepaid,
		Period: calendar.Month, Rates: events.Rates{Down: 10_000, Up: 5_000},
	}
	k.Run(k.t, coretest.Operator(org), commands.CreatePlan{PlanID: plan, OrgID: org, Code: "home", Terms: terms})
	k.Run(k.t, coretest.Operator(org), commands.CreateSubscription{
		SubscriptionID: line, OrgID: org, SubscriberID: of, PlanID: plan, PlanVersion: 1, Terms: terms,
		Timezone: "Africa/Nairobi", Username: personal.Of("amina"), PasswordRef: ref,
	})
	return line
}

// TestIdentify_ADummySerialNumberIsNoIdentity: it is on the list with the reason, and no device is recorded, nor is one
// told the login of another with the same number.
func TestIdentify_ADummySerialNumberIsNoIdentity(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	for _, serial := range []string{"000000000000", "FFFFFFFF", "123456789"} {
		dummy := events.CpeIdentity{SerialNumber: serial, OUI: "00AABB", ProductClass: "ONT"}
		_, err := k.Identify(t.Context(), hook(), dummy, "")
		present, _, readErr := bus.LoadUnchecked[cpe.CPE](t.Context(), k.Kit.Bus, commands.CpeID(dummy))
		if failure.CodeOf(err) != "cpe_serial_unusable" || readErr != nil || !present.ID.IsZero() {
			t.Errorf("%s: %v, recorded %+v, %v", serial, err, present, readErr)
		}
	}
	if want := []string{
		"000000000000cpe_serial_unusable", "FFFFFFFFcpe_serial_unusable", "123456789cpe_serial_unusable",
	}; !slices.Equal(k.calls.admitted, want) {
		t.Errorf("on the list: %v", k.calls.admitted)
	}
}

// TestIdentify_ADeviceForWhichThereIsNoRoomIsNotRecorded: the CPE server asks again at its next call.
func TestIdentify_ADeviceForWhichThereIsNoRoomIsNotRecorded(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	k.calls.full = true
	_, err := k.Identify(t.Context(), hook(), box, "")
	present, _, readErr := bus.LoadUnchecked[cpe.CPE](t.Context(), k.Kit.Bus, commands.CpeID(box))
	if failure.CodeOf(err) != "cpe_pending_full" || readErr != nil || !present.ID.IsZero() {
		t.Errorf("%v, recorded %+v, %v", err, present, readErr)
	}
}
