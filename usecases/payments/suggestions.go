package paymentscases

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Suggestions finds whose money in suspense may be, for a person to choose from (docs/rules/money.md#suggestions). Safe
// for concurrent use.
type Suggestions struct {
	Views *runner.Views
	// Shared reports whether a shortcode is the platform's own paybill; nil = none is.
	Shared func(ctx context.Context, environment, shortcode string) (bool, error)
}

// Suggestion is a subscriber whose money a receipt may be, or, for a receipt without an organization, an organization
// with such a subscriber.
type Suggestion struct {
	OrgID         id.Organization
	SubscriberID  id.Subscriber
	AccountNumber string
	Reasons       []Reason // the one that says most first; never empty
	weight        int
}

// Reason is one thing that speaks for a suggestion.
type Reason struct {
	By     string // see reasonWeights
	Times  int    // of history: how many of the payer's newest payments were for this subscriber
	LastAt time.Time
}

// The codes of reasons that come from no reference.
const (
	byHistory   = "history"
	byName      = "name"
	byFirstName = "one_name"
	byOwed      = "amount_owed"
	byPrice     = "plan_price"
)

// reasonWeights say how much each reason counts: what a payer typed or who paid says more than a name, and a name more
// than an amount, which many may owe.
var reasonWeights = map[string]int{
	"invoice_number": 65, "account_alias": 75, "payer_phone": 80, "phone": 75, "account_number": 70, "near_alias": 55,
	"username": 40, byHistory: 60, byName: 45, byFirstName: 15, byOwed: 20, byPrice: 8,
}

// mostSuggestions bounds what is offered for one receipt.
const mostSuggestions = 5

// Of lists the suggestions for receipts of one organization, in two round trips for all of them. Receipts that do not
// wait have none.
func (s Suggestions) Of(
	ctx context.Context, org id.Organization, rows []paymentsviews.ReceiptRow,
) (map[id.Receipt][]Suggestion, error) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r paymentsviews.ReceiptRow) bool { return r.State != "suspense" })
	out := map[id.Receipt][]Suggestion{}
	if len(rows) == 0 {
		return out, nil
	}
	near, err := s.near(ctx, rows)
	if err != nil {
		return nil, err
	}
	before, like := make([][]paymentsviews.PaidBefore, len(rows)), make([][]id.Subscriber, len(rows))
	alike := make([][]id.Subscriber, len(rows)) // with the name that was typed
	receipts := paymentsviews.ReceiptsQuery{Views: s.Views}
	subscribers := subscribersviews.SubscribersQuery{Views: s.Views}
	subscriptions := subscribersviews.SubscriptionsQuery{Views: s.Views}
	err = s.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		for i, row := range rows {
			receipts.PaidBefore(r, &before[i], row)
			subscribers.LikePayer(r, &like[i], org, paymentOf(row))
			if name := typedName(row); name != "" {
				subscribers.LikePayer(r, &alike[i], org, subscribersviews.Payment{Name: name, Amount: row.Amount()})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	found := make([]gathered, len(rows))
	likely, priced := make([][]subscribersviews.Likely, len(rows)), make([][]id.Subscriber, len(rows))
	named := make([][]subscribersviews.Likely, len(rows))
	err = s.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		for i, row := range rows {
			found[i] = gather(near[i], before[i], append(like[i], alike[i]...))
			if who := found[i].who(); len(who) > 0 {
				subscribers.WeighPayer(r, &likely[i], org, paymentOf(row), who)
				if name := typedName(row); name != "" {
					subscribers.WeighPayer(r, &named[i], org, subscribersviews.Payment{Name: name}, who)
				}
				subscriptions.AtPrice(r, &priced[i], org, row.Amount(), who)
			}
		}
	})
	for i, row := range rows {
		out[row.ID] = found[i].ranked(moreWords(likely[i], named[i]), priced[i])
	}
	return out, err
}

// typedName gives the typed text when it may be a name: several words without a digit.
func typedName(r paymentsviews.ReceiptRow) string {
	typed := null.Zero(r.BillRef)
	if strings.ContainsAny(typed, "0123456789") || len(strings.Fields(typed)) < 2 {
		return ""
	}
	return typed
}

// moreWords gives each of the likely the words of the name that fits it better: the payer's, or the one that was typed.
func moreWords(likely, named []subscribersviews.Likely) []subscribersviews.Likely {
	for i := range likely {
		for _, n := range named {
			if n.SubscriberID == likely[i].SubscriberID {
				likely[i].Words = max(likely[i].Words, n.Words)
			}
		}
	}
	return likely
}

// near finds by reference for each receipt.
func (s Suggestions) near(ctx context.Context, rows []paymentsviews.ReceiptRow) ([][]paymentsviews.Suggested, error) {
	refs := make([]paymentsviews.Reference, len(rows))
	for i, row := range rows {
		refs[i] = row.Reference()
	}
	return paymentsviews.MatchingQuery{Views: s.Views}.Suggest(ctx, refs...)
}

// paymentOf has all that is known of the payer of a receipt.
func paymentOf(r paymentsviews.ReceiptRow) subscribersviews.Payment {
	return subscribersviews.Payment{Name: null.Zero(r.PayerName), Amount: r.Amount()}
}

// gathered has the reasons of each subscriber that was found.
type gathered map[id.Subscriber]*Suggestion

// gather brings together what was found by reference, by history, and by name or amount.
func gather(near []paymentsviews.Suggested, before []paymentsviews.PaidBefore, like []id.Subscriber) gathered {
	g := gathered{}
	of := func(s id.Subscriber) *Suggestion {
		if g[s] == nil {
			g[s] = &Suggestion{SubscriberID: s}
		}
		return g[s]
	}
	for _, n := range near {
		one := of(n.SubscriberID)
		one.OrgID, one.AccountNumber = n.OrgID, n.AccountNumber
		for _, by := range n.Reasons {
			one.add(Reason{By: by})
		}
	}
	for _, b := range before {
		one := of(b.SubscriberID)
		one.OrgID = b.OrgID
		one.add(Reason{By: byHistory, Times: b.Times, LastAt: b.LastAt})
	}
	for _, l := range like {
		of(l)
	}
	return g
}

// add adds a reason that is not there yet.
func (s *Suggestion) add(r Reason) {
	if !slices.ContainsFunc(s.Reasons, func(has Reason) bool { return has.By == r.By }) {
		s.Reasons = append(s.Reasons, r)
		s.weight += reasonWeights[r.By] + min(r.Times, 5)
	}
}

// who lists the subscribers that were found.
func (g gathered) who() []id.Subscriber {
	list := make([]id.Subscriber, 0, len(g))
	for s := range g {
		list = append(list, s)
	}
	return list
}

// ranked gives the best suggestions. Whoever is not among the likely was forgotten, or is another organization's.
func (g gathered) ranked(likely []subscribersviews.Likely, priced []id.Subscriber) []Suggestion {
	var list []Suggestion
	for _, l := range likely {
		one := g[l.SubscriberID]
		if one == nil {
			continue
		}
		one.AccountNumber = l.AccountNumber
		switch {
		case l.Words >= 2:
			one.add(Reason{By: byName})
		case l.Words == 1:
			one.add(Reason{By: byFirstName})
		}
		if l.Owes {
			one.add(Reason{By: byOwed})
		}
		if slices.Contains(priced, l.SubscriberID) {
			one.add(Reason{By: byPrice})
		}
		list = append(list, *one)
	}
	return best(list)
}

// best sorts suggestions and their reasons, and leaves the first of them. One without a reason is none: what spoke for
// it has changed meanwhile.
func best(list []Suggestion) []Suggestion {
	list = slices.DeleteFunc(list, func(s Suggestion) bool { return len(s.Reasons) == 0 })
	for i := range list {
		slices.SortStableFunc(list[i].Reasons, func(a, b Reason) int {
			return reasonWeights[b.By] - reasonWeights[a.By]
		})
	}
	slices.SortFunc(list, func(a, b Suggestion) int {
		return cmp.Or(b.weight-a.weight, cmp.Compare(a.AccountNumber, b.AccountNumber),
			cmp.Compare(a.SubscriberID.String(), b.SubscriberID.String()))
	})
	return list[:min(len(list), mostSuggestions)]
}

// OfUnowned lists, for receipts without an organization, the organizations whose customer may have paid, each once.
// Only money on the platform's own paybill may be any organization's: on any other shortcode whoever paid could choose
// what to type, and whom it names. Names and amounts lead to nobody here: they are the neighbours' customers'.
func (s Suggestions) OfUnowned(
	ctx context.Context, rows []paymentsviews.ReceiptRow,
) (map[id.Receipt][]Suggestion, error) {
	var shared []paymentsviews.ReceiptRow
	for _, row := range rows {
		if row.State != "suspense" || s.Shared == nil {
			continue
		}
		ours, err := s.Shared(ctx, row.Environment, row.Shortcode)
		if err != nil {
			return nil, err
		}
		if ours {
			shared = append(shared, row)
		}
	}
	out := map[id.Receipt][]Suggestion{}
	if len(shared) == 0 {
		return out, nil
	}
	near, err := s.near(ctx, shared)
	if err != nil {
		return nil, err
	}
	before := make([][]paymentsviews.PaidBefore, len(shared))
	err = s.Views.Platform(ctx, func(r *postgres.Reads) {
		for i, row := range shared {
			paymentsviews.ReceiptsQuery{Views: s.Views}.PaidBefore(r, &before[i], row)
		}
	})
	for i, row := range shared {
		out[row.ID] = perOrganization(gather(near[i], before[i], nil))
	}
	return out, err
}

// perOrganization leaves the best suggestion of each organization.
func perOrganization(g gathered) []Suggestion {
	of := map[id.Organization]Suggestion{}
	for _, one := range g {
		has, ok := of[one.OrgID]
		if !ok || one.weight > has.weight ||
			one.weight == has.weight && one.SubscriberID.String() < has.SubscriberID.String() {
			of[one.OrgID] = *one
		}
	}
	list := make([]Suggestion, 0, len(of))
	for _, one := range of {
		list = append(list, one)
	}
	return best(list)
}
