package historycases_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases/history"
)

// start is the first time of the manual clock.
var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// kit is a log with all aggregates.
type kit struct {
	*coretest.Kit
	clock *clock.Manual
	cases historycases.Histories
	acme  id.Organization
	other id.Organization
}

// newKit starts a log.
func newKit(t testing.TB) *kit {
	t.Helper()
	c := clock.NewManual(start)
	k := &kit{
		Kit: coretest.New(t, c), clock: c, acme: id.New[id.Organization](), other: id.New[id.Organization](),
	}
	register(k.Bus)
	k.cases = historycases.Histories{Bus: k.Bus}
	return k
}

// open opens a history for an organization, or for the operator of the machine when it is zero.
func (k *kit) open(t testing.TB, org id.Organization, category string, target id.Any) *historycases.History {
	t.Helper()
	h, err := k.cases.Open(t.Context(), historycases.Reader{Asked: coretest.Ask(org), Operator: org.IsZero()},
		historycases.Target{Category: category, ID: target})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// everything is all that a history says, as JSON: the events with their changes, the state and the difference.
func (k *kit) everything(t *testing.T, h *historycases.History) string {
	t.Helper()
	list, err := h.Oldest(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	was, err := h.At(t.Context(), k.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	diff, err := h.Between(t.Context(), start.Add(-time.Hour), k.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, e := range list {
		all = append(all, e.Data, e.Changes)
	}
	text, err := json.Marshal(append(all, was.Fields, diff.Changes))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sighting is money of KES 1,500 on a shared paybill that an organization was told of.
func sighting(receipt id.Receipt, org id.Organization) commands.RecordReceipt {
	return commands.RecordReceipt{
		ReceiptID: receipt, OrgID: org, Provider: commands.ProviderMobileMoney, Environment: "sandbox",
		ReceiptNumber: "SJK4X7Q2P1", Channel: commands.ChannelPaybill, Shortcode: "600100",
		Amount: money.Major(1500, money.KES), PaidAt: start.Add(-time.Minute), PayerPhone: personal.Of("254712345678"),
		OrgAccountBalance: "987654.00", Sighting: commands.SightingConfirmation,
	}
}

// TestHistory_OfAReceiptHidesWhatOthersReported: another organization's contradicting report of the same number is told
// without what it said, in no event, state or difference. The operator of the machine sees it.
func TestHistory_OfAReceiptHidesWhatOthersReported(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	receipt := id.New[id.Receipt]()
	k.Run(t, coretest.Operator(k.acme), sighting(receipt, k.acme))
	k.clock.Advance(time.Minute)
	contradicting := sighting(receipt, k.other)
	contradicting.Amount, contradicting.Shortcode = money.Major(7777, money.KES), "600999"
	contradicting.PaymentID = id.New[id.Payment]()
	k.Run(t, coretest.Operator(id.Organization{}), contradicting)
	secrets := []string{"7777", "600999", k.other.String(), contradicting.PaymentID.String(), "987654"}

	h := k.open(t, k.acme, commands.ReceiptCategory, id.Any(receipt))
	list, err := h.Oldest(t.Context(), 0, 10)
	if err != nil || len(list) < 2 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	if list[0].Foreign || !list[1].Foreign || list[1].Data != nil || list[1].Changes != nil {
		t.Errorf("the reports: %+v", list)
	}
	own := k.everything(t, h)
	for _, secret := range secrets {
		if strings.Contains(own, secret) {
			t.Errorf("its organization sees %s: %s", secret, own)
		}
	}
	if !strings.Contains(own, `"amount":1500.00`) || !strings.Contains(own, `254712345678`) ||
		!strings.Contains(own, `{"hidden":"other"}`) {
		t.Errorf("what is its own: %s", own)
	}
	all := k.everything(t, k.open(t, id.Organization{}, commands.ReceiptCategory, id.Any(receipt)))
	for _, secret := range secrets {
		if !strings.Contains(all, secret) {
			t.Errorf("the operator does not see %s: %s", secret, all)
		}
	}
}

// TestHistory_HidesTheTimeOfAnotherOwner: of a device that another organization had before, and of money that the
// platform gave to the wrong one, only the own time is told, in events, states and differences.
func TestHistory_HidesTheTimeOfAnotherOwner(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	platform := func() commands.Meta { return coretest.Operator(id.Organization{}) }
	theirs := id.New[id.Subscriber]()
	identity := events.CpeIdentity{SerialNumber: "S1", OUI: "00D09E"}
	box, receipt := commands.CpeID(identity), id.New[id.Receipt]()
	k.Run(t, platform(), commands.IdentifyCpe{CpeID: box, Identity: identity})
	k.Run(t, coretest.Operator(k.other), commands.ClaimCpe{CpeID: box, OrgID: k.other, SubscriberID: theirs})
	k.Run(t, platform(), sighting(receipt, id.Organization{}))
	k.Run(t, platform(), commands.HoldReceipt{ReceiptID: receipt, Reason: "no_match"})
	k.Run(t, platform(), commands.AssignReceipt{ReceiptID: receipt, OrgID: k.other, Currency: money.KES})
	k.clock.Advance(time.Hour)
	k.Run(t, coretest.Operator(k.other), commands.ReleaseCpe{CpeID: box})
	k.Run(t, coretest.Operator(k.acme), commands.ClaimCpe{CpeID: box, OrgID: k.acme})
	k.Run(t, platform(), commands.AssignReceipt{ReceiptID: receipt, OrgID: k.acme, From: k.other, Currency: money.KES})
	for _, h := range []*historycases.History{
		k.open(t, k.acme, commands.CpeCategory, id.Any(box)),
		k.open(t, k.acme, commands.ReceiptCategory, id.Any(receipt)),
	} {
		own := k.everything(t, h)
		diff, err := h.Between(t.Context(), start, k.clock.Now())
		if err != nil || diff.From != nil || len(diff.Changes) == 0 {
			t.Errorf("%s: the difference is %+v, %v", h.Category, diff, err)
		}
		changes, err := json.Marshal(diff.Changes)
		for _, secret := range []string{k.other.String(), theirs.String()} {
			if err != nil || strings.Contains(own+string(changes), secret) {
				t.Errorf("%s: the new owner sees %s, %v: %s %s", h.Category, secret, err, own, changes)
			}
		}
		_, err = h.At(t.Context(), start)
		_, until := h.Between(t.Context(), start.Add(-time.Hour), start)
		if failure.CodeOf(err) != "history_not_begun" || failure.CodeOf(until) != "history_not_begun" {
			t.Errorf("%s: the state of then is %v, %v", h.Category, err, until)
		}
	}
}

// TestHistory_OfMoneyIsReadable: amounts have their currency, things of an account are named by their ids, and a page
// of the middle of a long history tells the same as the whole of it.
func TestHistory_OfMoneyIsReadable(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	subscriber := id.New[id.Subscriber]()
	receipt := id.New[id.Receipt]()
	for n := range 700 { // with its two events each, the account goes into its second period
		if n > 0 {
			receipt = id.New[id.Receipt]()
		}
		k.clock.Advance(time.Second)
		k.Run(t, coretest.Operator(k.acme), commands.CreditReceipt{
			SubscriberID: subscriber, OrgID: k.acme, ReceiptID: receipt, Number: "R", Channel: commands.ChannelPaybill,
			Amount: money.Major(10, money.KES), PaidAt: k.clock.Now(), MatchedAt: k.clock.Now(),
		})
	}
	h := k.open(t, k.acme, commands.AccountCategory, id.Any(subscriber))
	whole, err := h.Oldest(t.Context(), 0, 10_000)
	if err != nil || uint64(len(whole)) != h.Len() || h.Len() < 1300 {
		t.Fatalf("%d of %d events, %v", len(whole), h.Len(), err)
	}
	last := whole[len(whole)-1]
	found := false
	for _, e := range whole[len(whole)-3:] {
		for _, c := range e.Changes {
			to, _ := json.Marshal(c.To)
			found = found || c.Field == "receipts."+receipt.String()+".amount" &&
				string(to) == `{"amount":10.00,"currency":"KES"}` && c.From == nil
		}
	}
	if !found {
		t.Errorf("the last receipt is not told: %+v", last.Changes)
	}
	for _, from := range []uint64{990, 1001, h.Len() - 5} {
		part, err := h.Oldest(t.Context(), from, 7)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range part {
			if want := whole[from+uint64(i)]; e.Number != want.Number || e.Event.ID != want.Event.ID ||
				!cmp.Equal(e.Changes, want.Changes) {
				t.Errorf("from %d event %d is told otherwise: %+v, %+v", from, i, e, want)
			}
		}
	}
	diff, err := h.Between(t.Context(), start.Add(-time.Hour), k.clock.Now())
	if err != nil || len(diff.Changes) != historycases.MostChanges || !diff.More || diff.From != nil {
		t.Errorf("the whole difference has %d changes, more: %t, %v", len(diff.Changes), diff.More, err)
	}
	if newest, err := h.Newest(t.Context(), h.Len(), 3); err != nil || len(newest) != 3 ||
		newest[0].Event.ID != last.Event.ID || newest[2].Number != last.Number-2 {
		t.Errorf("the newest: %+v, %v", newest, err)
	}
}

// TestHistory_OfAUserIsWholeForThePlatform: events that carry the organization of the user are not another's to it.
func TestHistory_OfAUserIsWholeForThePlatform(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	user := id.New[id.User]()
	k.Run(t, coretest.Operator(k.acme), commands.RegisterUser{
		UserID: user, OrgID: k.acme, Email: personal.Of("sue@acme.test"), FirstName: personal.Of("Sue"),
		Role: events.RoleSupport,
	})
	k.Run(t, coretest.Operator(k.acme), commands.RecordPasswordChange{UserID: user})
	h, err := k.cases.Open(t.Context(), historycases.Reader{Asked: coretest.Ask(id.Organization{})},
		historycases.Target{Category: commands.UserCategory, ID: id.Any(user)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := h.Oldest(t.Context(), 0, 10)
	if err != nil || len(list) < 2 {
		t.Fatalf("%d events, %v", len(list), err)
	}
	for _, e := range list {
		if e.Foreign || e.Data == nil {
			t.Errorf("%s is hidden from the platform", e.Type)
		}
	}
}
