package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/simulators/provider"
)

// stormOrg is an organization of the storm.
type stormOrg struct {
	slug, email, id string
	shortcode       string // that its customers pay to
	plan, postpaid  string
	admin           atomic.Pointer[apiClient]
}

// stormPerson is a customer. The phone has the provider's form and belongs to nobody else.
type stormPerson struct {
	org                *stormOrg
	id, account, phone string
}

// crowd has all people of the storm.
type crowd struct {
	root   atomic.Pointer[apiClient]
	orgs   []*stormOrg
	people []stormPerson
}

// meaning says whose money a payment is.
type meaning struct {
	org     *stormOrg    // nil: of no organization until somebody assigns it
	person  *stormPerson // nil: not known exactly
	invoice string       // the number that was typed
	// perhaps is set when the payer's phone alone says whose it is: the provider may have hidden it.
	perhaps bool
}

// cashPaid is money that was handed over at a desk.
type cashPaid struct {
	minor int64
	known bool // the program has answered that it is booked
}

const (
	stormOwnShortcode = "700300" // of gamma
	stormPeople       = 5        // of each organization
	stormPrice        = 1000     // of a month, in shillings
)

// populate makes organizations, plans, customers and subscriptions.
func (s *storm) populate() {
	s.t.Helper()
	s.crowd.root.Store(&s.root)
	for i, slug := range []string{"acme", "beta", "gamma"} {
		o := &stormOrg{slug: slug, email: "admin@" + slug + ".test", shortcode: testShortcode}
		if i > 0 {
			s.admin = s.organization(slug, o.email)
		}
		admin := s.admin
		o.admin.Store(&admin)
		for _, row := range s.all(s.root, "/orgs") {
			if row.text("slug") == slug {
				o.id = row.text("id")
			}
		}
		o.plan, o.postpaid = s.plan("home", stormPrice), s.postpaidPlan()
		if slug == "gamma" {
			s.ownShortcode(o)
		}
		s.crowd.orgs = append(s.crowd.orgs, o)
		for n := range stormPeople {
			p := stormPerson{org: o, phone: fmt.Sprintf("25471100%d0%02d", 5+i, n)}
			p.id, p.account = s.subscriber(p.phone)
			s.crowd.people = append(s.crowd.people, p)
			if plan := []string{o.plan, o.plan, o.postpaid, ""}[n%4]; plan != "" {
				s.must(s.admin, "POST", "/subscriptions", map[string]string{"subscriberId": p.id, "planId": plan})
			}
		}
	}
	s.eventually("registration of the platform's paybill", func(context.Context) (bool, error) {
		return s.sim.Registered(testShortcode), nil
	})
}

// postpaidPlan makes a plan that is paid at the end of its month.
func (s *storm) postpaidPlan() string {
	s.t.Helper()
	return s.must(s.admin, "POST", "/plans", map[string]any{
		"code": "later", "name": "Plan later", "kind": "pppoe", "price": stormPrice, "currency": "KES",
		"billing": map[string]string{"mode": "postpaid", "period": "month"}, "rates": map[string]int{
			"down": 10000, "up": 5000,
		},
	}).text("id")
}

// ownShortcode gives an organization a shortcode of its own and waits until it is active.
func (s *storm) ownShortcode(o *stormOrg) {
	s.t.Helper()
	o.shortcode = stormOwnShortcode
	s.must(s.admin, "PUT", "/settings/payment-gateway", map[string]any{
		"mode": "direct", "environment": "sandbox", "shortcode": o.shortcode, "consumerKey": o.slug,
		"consumerSecret": "secret", "passkey": "passkey",
	})
	s.eventually("own shortcode", func(ctx context.Context) (bool, error) {
		now, err := s.admin.call(ctx, http.MethodGet, "/settings/payment-gateway", "", nil)
		return now["active"] == true, err
	})
}

// signInAgain signs everybody in after a start, since tokens do not live as long as a storm may last.
func (c *crowd) signInAgain(k *kit) {
	k.t.Helper()
	in := func(slug, email string) *apiClient {
		var signedIn apiClient
		k.eventually("signed in as "+email, func(ctx context.Context) (bool, error) {
			var err error
			signedIn, _, err = k.client(slug).login(ctx, email, testPassword)
			return err == nil, err // 503 while the database is on its way back
		})
		return &signedIn
	}
	c.root.Store(in("", testRootEmail))
	for _, o := range c.orgs {
		o.admin.Store(in(o.slug, o.email))
	}
}

// turn lets somebody do one thing. What it is follows from the dice alone. Every failure is expected, because the
// program may be away: it is ignored.
func (s *storm) turn(ctx context.Context, d *rand.Rand) {
	who := &s.crowd.people[d.IntN(len(s.crowd.people))]
	switch n := d.IntN(100); {
	case n < 25:
		s.did("prompt", s.ask(ctx, d, who))
	case n < 65:
		s.did("paybill", s.paybill(ctx, d, who))
	case n < 70:
		s.did("cash", s.payCash(ctx, d, who))
	case n < 80:
		s.did("correction", s.correct(ctx, d, who.org))
	case n < 84:
		s.did("assignment", s.assign(ctx, d))
	case n < 90:
		s.did("invoice", s.giveBack(ctx, d, who.org))
	case n < 95:
		s.did("subscription", s.live(ctx, d, who))
	default:
		if all := s.sim.Transactions(); len(all) > 0 {
			tx := all[d.IntN(len(all))]
			s.sim.Resend(tx.ReceiptNumber)
			s.sim.Resend(tx.CheckoutRequestID)
		}
	}
}

// did counts what was tried and how it was answered.
func (s *storm) did(what string, err error) {
	answered := "well"
	if no := asAPIError(err); no != nil {
		answered = cmp.Or(no.Code, strconv.Itoa(no.Status))
	} else if err != nil {
		answered = "not"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what+" answered "+answered]++
}

// shillings gives an amount in the provider's form.
func shillings(whole, cents int64) provider.Amount {
	return provider.Amount{Amount: money.Of(whole*100+cents, money.KES)}
}

// amount is often the price, because customers of one plan pay equal amounts, sometimes twice on one day.
func amount(d *rand.Rand) int64 {
	if d.IntN(3) == 0 {
		return stormPrice
	}
	return int64(10 * (1 + d.IntN(120)))
}

// ask sends a prompt to a customer's phone.
func (s *storm) ask(ctx context.Context, d *rand.Rand, who *stormPerson) error {
	_, err := who.org.admin.Load().call(ctx, http.MethodPost, "/payments/initiate", "", map[string]any{
		"subscriberId": who.id, "amount": amount(d),
	})
	return err
}

// paybill lets somebody pay at a paybill, and types the reference in one of the ways in which people do.
func (s *storm) paybill(ctx context.Context, d *rand.Rand, who *stormPerson) error {
	p := provider.Paybill{ShortCode: who.org.shortcode, MSISDN: who.phone, Amount: shillings(amount(d), 0)}
	if d.IntN(4) == 0 {
		p.Amount = shillings(amount(d), int64(d.IntN(100)))
	}
	m := meaning{org: who.org, person: who}
	switch n := d.IntN(12); {
	case n < 5: // a friend pays, or the customer with another phone
		p.BillRefNumber, p.MSISDN = who.account, fmt.Sprintf("2547%08d", d.IntN(90_000_000))
	case n < 6:
		p.BillRefNumber = " " + who.account[:4] + " " + who.account[4:]
	case n < 7:
		p.BillRefNumber = "0" + who.phone[3:]
	case n < 9:
		m.invoice = s.someInvoice(ctx, d, who)
		p.BillRefNumber = strings.ToLower(m.invoice)
	case n < 10: // the payer's phone alone
		p.BillRefNumber, m = "rent", meaning{org: who.org, perhaps: who.org.shortcode == testShortcode}
	case n < 11: // for the platform or the owner of the shortcode
		p.BillRefNumber, p.MSISDN = "church", fmt.Sprintf("2547%08d", 90_000_000+d.IntN(9_000_000))
		m = meaning{org: who.org}
		if p.ShortCode == testShortcode {
			m.org = nil
		}
	default: // at the paybill of somebody else
		p, m = s.elsewhere(p, who)
	}
	if p.BillRefNumber == "" {
		p.BillRefNumber = who.account
	}
	result, err := s.sim.Pay(ctx, p)
	s.means(result, m)
	if err == nil && result.State != "completed" {
		err = fmt.Errorf("paybill payment is %s %s", result.State, result.ResultCode)
	}
	return err
}

// elsewhere pays for a customer at a paybill that is not the one of the customer's organization. An organization's own
// shortcode never leads to another organization; the platform's leads to everybody.
func (s *storm) elsewhere(p provider.Paybill, who *stormPerson) (provider.Paybill, meaning) {
	p.BillRefNumber = who.account
	if who.org.shortcode == testShortcode {
		p.ShortCode = stormOwnShortcode
		return p, meaning{org: s.crowd.orgs[len(s.crowd.orgs)-1]}
	}
	p.ShortCode = testShortcode
	return p, meaning{org: who.org, person: who}
}

// means keeps whose money a payment is.
func (s *storm) means(r provider.PaybillResult, m meaning) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.ReceiptNumber != "" {
		s.meant[r.ReceiptNumber] = m
	}
}

// someInvoice gives the number of an invoice of a customer, paid or not; "" when there is none or nobody answers.
func (s *storm) someInvoice(ctx context.Context, d *rand.Rand, who *stormPerson) string {
	page, _ := who.org.admin.Load().call(ctx, http.MethodGet, "/invoices?subscriberId="+who.id, "", nil)
	return pick(d, page.list("data")).text("number")
}

// pick chooses one of a list; nil when it is empty.
func pick(d *rand.Rand, list []answer) answer {
	if len(list) == 0 {
		return nil
	}
	return list[d.IntN(len(list))]
}
