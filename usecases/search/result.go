package searchcases

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// Types are the types of results. Of equally good ones those come first whose type does.
var Types = []string{
	"organization", "subscriber", "subscription", "session", "voucher", "invoice", "receipt", "device", "cpe",
}

// Matches are the values of Result.Match.
var Matches = []string{
	"name", "phone", "email", "account", "username", "mac", "ip", "voucher", "invoice", "receipt", "slug",
	"serial",
}

// Result is one thing that a search has found.
type Result struct {
	Type         string
	ID           id.Any // of the thing that opens
	Title        string
	Subtitle     string        // facts that tell it from others, with " · " between them; "" = none
	SubscriberID id.Subscriber // the customer; zero = none that is known
	Match        string        // what was found
	State        string        // in the words of its type
	rank         int           // 0 = best
	over         bool          // the thing has ended, so that one that has not comes before it
}

// Ranks of results.
const (
	wholeNumber = iota // a number, address or login as it was typed
	wholeName          // each word is one of the name
	partOfName
	partOfNumber
)

// matched sets what was found, and how good that is.
func (r Result) matched(m searchterm.Match) Result {
	name := m.By == "name" || m.By == "slug" && !m.Whole
	switch {
	case m.Whole && !name:
		r.rank = wholeNumber
	case m.Whole:
		r.rank = wholeName
	case name:
		r.rank = partOfName
	default:
		r.rank = partOfNumber
	}
	r.Match = m.By
	return r
}

// best sorts results and keeps the first ones.
func best(list []Result, max int) []Result {
	slices.SortFunc(list, func(a, b Result) int {
		return cmp.Or(
			cmp.Compare(a.rank, b.rank), cmp.Compare(slices.Index(Types, a.Type), slices.Index(Types, b.Type)),
			cmp.Compare(boolean(a.over), boolean(b.over)),
			cmp.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)), bytes.Compare(a.ID[:], b.ID[:]),
		)
	})
	return list[:min(len(list), max)]
}

// boolean is 1 for true, so that true comes last.
func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// joined writes facts in one line; empty ones are left out.
func joined(facts ...string) string {
	return strings.Join(slices.DeleteFunc(facts, func(f string) bool { return f == "" }), " · ")
}

// results shows the rows that fit. Rows that do not fit have changed while they were read.
func (f found) results(text string, invoice billingviews.InvoiceSearch, now time.Time) []Result {
	list := []Result{}
	add := func(r Result, m searchterm.Match) {
		if m.By != "" {
			list = append(list, r.matched(m))
		}
	}
	for _, s := range f.subscribers {
		add(subscriber(s), s.Found(text))
	}
	for _, s := range f.subscriptions {
		add(subscription(s, text), s.Found(text))
	}
	mac := searchterm.MAC(text)
	for _, s := range f.byMAC {
		add(session(s, s.MAC), searchterm.Match{By: "mac", Whole: s.MAC == mac})
	}
	for _, s := range f.byIP {
		if !slices.ContainsFunc(f.byMAC, func(other telemetry.Session) bool { return other.ID == s.ID }) {
			add(session(s, searchterm.Address(text).String()), searchterm.Match{By: "ip", Whole: true})
		}
	}
	for _, i := range f.invoices {
		add(Result{
			Type: "invoice", ID: id.As[id.Any](i.ID), Title: i.Number, Subtitle: i.Total().String(),
			SubscriberID: i.SubscriberID, State: i.State, over: i.State == "voided",
		}, i.Found(invoice))
	}
	for _, r := range f.receipts {
		add(receipt(r), r.Found(text))
	}
	for _, d := range f.routers {
		add(device(d), d.Match)
	}
	for _, c := range f.cpes {
		add(cpe(c), c.Found(text))
	}
	if v := f.voucher; v != nil {
		add(Result{Type: "voucher", ID: id.As[id.Any](v.ID), Title: v.PlanName, State: v.State(now)},
			searchterm.Match{By: "voucher", Whole: true})
	}
	return list
}

// subscriber shows a customer.
func subscriber(s subscribersviews.SubscriberRow) Result {
	return Result{
		Type: "subscriber", ID: id.As[id.Any](s.ID), Title: cmp.Or(s.Name(), s.AccountNumber),
		Subtitle: joined(s.AccountNumber, null.Zero(s.Phone)), SubscriberID: s.ID, State: s.Status,
	}
}

// subscription shows a subscription by what was found of it.
func subscription(s subscribersviews.SubscriptionRow, text string) Result {
	title := null.Zero(s.Username)
	switch s.Found(text).By {
	case "mac":
		mac := searchterm.MAC(text)
		title = s.MACAddresses[slices.IndexFunc(s.MACAddresses, func(of string) bool {
			return strings.HasPrefix(of, mac)
		})]
	case "ip":
		title = null.Zero(s.StaticIP)
		if searchterm.Address(text).Is6() || title == "" {
			title = null.Zero(s.StaticIPv6)
		}
	}
	return Result{
		Type: "subscription", ID: id.As[id.Any](s.ID), Title: title, Subtitle: s.Terms.Name,
		SubscriberID: s.SubscriberID,
		State:        s.State, over: s.State == "ended",
	}
}

// customer is the customer of a session; zero for a session of nobody known, and for one of a voucher
// (docs/rules/access-vouchers.md#sessions).
func customer(s telemetry.Session) id.Subscriber {
	if s.SubscriptionID == id.As[id.Subscription](s.SubscriberID) {
		return id.Subscriber{}
	}
	return s.SubscriberID
}

// session shows a session by what was found of it. Its username is not shown, because it may be the code of a voucher.
func session(s telemetry.Session, title string) Result {
	r := Result{
		Type: "session", ID: id.As[id.Any](s.ID), Title: title, SubscriberID: customer(s), State: "online",
		over: s.EndedAt != nil,
	}
	if r.over {
		r.State = "ended"
	}
	if s.IP != nil && !r.over && s.IP.String() != title {
		r.Subtitle = s.IP.String()
	}
	return r
}

// receipt shows received money.
func receipt(r paymentsviews.ReceiptRow) Result {
	return Result{
		Type: "receipt", ID: id.As[id.Any](r.ID), Title: r.ReceiptNumber, Subtitle: r.Amount().String(),
		SubscriberID: r.SubscriberID, State: r.State, over: r.State == "reversed",
	}
}

// device shows a router.
func device(d networkviews.DeviceFound) Result {
	r := Result{Type: "device", ID: id.As[id.Any](d.ID), Title: d.Name, Subtitle: d.IPAddress, State: "reachable"}
	if !d.Reachable {
		r.State = "unreachable"
	}
	return r
}

// cpe shows a device at a customer's.
func cpe(c cpeviews.CPERow) Result {
	r := Result{
		Type: "cpe", ID: id.As[id.Any](c.ID), Title: c.SerialNumber, Subtitle: cmp.Or(c.Model, c.ProductClass, c.OUI),
		SubscriberID: c.SubscriberID, State: "assigned",
	}
	if c.SubscriberID.IsZero() {
		r.State = "claimed"
	}
	return r
}

// organization shows an organization of the platform.
func organization(o identityviews.OrganizationFound) Result {
	r := Result{Type: "organization", ID: id.As[id.Any](o.ID), Title: o.Name, Subtitle: o.Slug, State: "active"}
	if o.Suspended {
		r.State = "suspended"
	}
	return r.matched(o.Match)
}
