package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
)

// errNothingThere says that a clerk found nothing to work on.
var errNothingThere = errors.New("nothing to work on")

// payCash hands money over at a desk. A third of the clerks enters it again, under the same reference.
func (s *storm) payCash(ctx context.Context, d *rand.Rand, who *stormPerson) (err error) {
	reference, shillings := fmt.Sprintf("book %d", d.IntN(1_000_000_000)), amount(d)
	for range 1 + d.IntN(3)/2 {
		s.mu.Lock()
		paid := s.cash[reference]
		paid.minor = shillings * 100
		s.cash[reference] = paid
		s.mu.Unlock()
		if _, err = who.org.admin.Load().call(ctx, http.MethodPost, "/payments/cash", "", map[string]any{
			"subscriberId": who.id, "amount": shillings, "reference": reference,
		}); err == nil {
			s.mu.Lock()
			paid.known = true
			s.cash[reference] = paid
			s.mu.Unlock()
		}
	}
	return err
}

// correct lets a clerk reverse, move or attribute money of the organization.
func (s *storm) correct(ctx context.Context, d *rand.Rand, org *stormOrg) error {
	admin, where := org.admin.Load(), "/receipts?limit=30"
	attribute := d.IntN(2) == 0
	if attribute {
		where += "&state=suspense"
	}
	page, err := admin.call(ctx, http.MethodGet, where, "", nil)
	r := pick(d, page.list("data"))
	if err != nil || r == nil {
		return errors.Join(err, errNothingThere)
	}
	to := s.crowd.people[d.IntN(len(s.crowd.people))]
	for to.org != org {
		to = s.crowd.people[d.IntN(len(s.crowd.people))]
	}
	action, body := "/reattribute", map[string]any{"subscriberId": to.id, "reason": "of somebody else"}
	switch {
	case attribute:
		action, body = "/attribute", map[string]any{"subscriberId": to.id}
	case d.IntN(3) == 0:
		action, body = "/reverse", map[string]any{"reason": "paid by mistake"}
	}
	_, err = admin.call(ctx, http.MethodPost, "/receipts/"+r.text("id")+action, "", body)
	return err
}

// assign gives money of nobody to some organization.
func (s *storm) assign(ctx context.Context, d *rand.Rand) error {
	root := s.crowd.root.Load()
	page, err := root.call(ctx, http.MethodGet, "/receipts?state=suspense", "", nil)
	r := pick(d, page.list("data"))
	if err != nil || r == nil {
		return errors.Join(err, errNothingThere)
	}
	to := s.crowd.orgs[d.IntN(len(s.crowd.orgs))]
	_, err = root.call(ctx, http.MethodPost, "/receipts/"+r.text("id")+"/assign", "", map[string]any{"orgId": to.id})
	return err
}

// giveBack writes a credit note over a part of an invoice or the whole, voids one, or makes another one by hand.
func (s *storm) giveBack(ctx context.Context, d *rand.Rand, org *stormOrg) error {
	admin := org.admin.Load()
	page, err := admin.call(ctx, http.MethodGet, "/invoices?limit=30", "", nil)
	invoice := pick(d, page.list("data"))
	if err != nil || invoice == nil {
		return errors.Join(err, errNothingThere)
	}
	path, body := "/invoices/"+invoice.text("id")+"/credit-note", map[string]any{"reason": "goodwill"}
	switch d.IntN(4) {
	case 0:
		body["amount"] = 1 + d.IntN(stormPrice/2)
	case 1:
		path, body = "/invoices/"+invoice.text("id")+"/void", map[string]any{"reason": "wrong"}
	case 2:
		path, body = "/invoices", map[string]any{
			"subscriberId": invoice.text("subscriberId"),
			"lines": []map[string]any{
				{"description": "cable", "quantity": 1 + d.IntN(3), "unitPrice": 10 * (1 + d.IntN(30))},
			},
		}
	}
	_, err = admin.call(ctx, http.MethodPost, path, "", body)
	return err
}

// live pauses, resumes or ends a subscription of a customer, or begins another one.
func (s *storm) live(ctx context.Context, d *rand.Rand, who *stormPerson) error {
	admin := who.org.admin.Load()
	page, err := admin.call(ctx, http.MethodGet, "/subscriptions?subscriberId="+who.id, "", nil)
	if err != nil {
		return err
	}
	one, action := pick(d, page.list("data")), ""
	switch n := d.IntN(8); {
	case one == nil || n < 2 && len(page.list("data")) < 3:
		plan := []string{who.org.plan, who.org.postpaid}[d.IntN(2)]
		_, err = admin.call(ctx, http.MethodPost, "/subscriptions", "",
			map[string]any{"subscriberId": who.id, "planId": plan})
		return err
	case n < 4:
		action = "pause"
	case n < 7:
		action = "resume"
	default:
		action = "end"
	}
	_, err = admin.call(ctx, http.MethodPost, "/subscriptions/"+one.text("id")+"/"+action, "",
		map[string]any{"reason": "as the customer wants"})
	return err
}
