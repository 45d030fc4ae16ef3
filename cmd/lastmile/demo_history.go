package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/lastmile-isp/lastmile/simulators/router"
)

// demoStory is something that happens once in the year, besides sign-ups and payments: to a customer, by the username,
// or to the ISP.
type demoStory struct {
	ago int // days before the present
	who string
	act demoAct
	at  func(ctx context.Context, s *demoSeed, routers *router.Simulator) error
}

// demoStories is the history of the ISP.
var demoStories = []demoStory{
	{ago: 364, at: joins("desk@demo.lastmile.localhost", "Front", "Desk", "admin")},
	{ago: 300, at: joins("field@demo.lastmile.localhost", "Field", "Team", "support")},
	{ago: 221, at: stranger(demoPhone(98), "DUKA 4", 1000, "neem")},
	{ago: 165, who: "quince", act: asks("end", "moved to another town")},
	{ago: 131, at: joins("night@demo.lastmile.localhost", "Night", "Support", "support")},
	{ago: 86, who: "papaya", act: asks("pause", "travels for a month")},
	{ago: 84, at: sells("day-pass", 20, "TOWN")},
	{ago: 70, who: "wattle", act: blocks("shares the line with the street")},
	{ago: 62, who: "wattle", act: unblocks("has signed the terms")},
	{ago: 60, who: "rosewood", act: notes("Gate code at the watchman's. Call before a visit.")},
	{ago: 58, who: "tamarind", act: notes("The mast moved in the wind; turned back on the roof.")},
	{ago: 57, who: "papaya", act: asks("resume", "is back")},
	{ago: 42, who: "date", act: asks("end", "took the line of another provider")},
	{ago: 38, who: "fern", act: asks("end", "the house was sold")},
	{ago: 34, who: "hoodia", act: notes("Pays by the 5th, when the salary comes.")},
	{ago: 26, who: "juniper", act: asks("pause", "the school holidays")},
	{ago: routersFrom, at: registers},
	{ago: 14, who: "kapok", act: rest},
	{ago: 12, who: "raffia", act: topsUp(20, "the tower was down on a Sunday")},
	{ago: 11, at: hadNoPower},
	{ago: 10, who: "lantana", act: isBlocked},
	{ago: 9, who: "msonobari", act: notes("Promised to pay twice. Do not call again before the month's end.")},
	{ago: 6, at: sells("day-pass", 30, "MARKET")},
	{ago: 4, who: "coconut", act: paysByPaybill},
	{ago: 2, at: stranger(demoPhone(97), "NYUMBA 7", 1500, "")},
	{ago: 2, at: unplugsBox},
	{ago: 0, at: troubles},
}

// tell plays a story.
func (s *demoSeed) tell(ctx context.Context, story demoStory, routers *router.Simulator) error {
	if story.at != nil {
		return story.at(ctx, s, routers)
	}
	a, known := s.accounts[story.who]
	if !known {
		return fmt.Errorf("%s has not signed up yet", story.who)
	}
	a.key = fmt.Sprintf("%s-story-%d", a.key, story.ago)
	if err := unlessDone(story.act(ctx, s, a)); err != nil {
		return fmt.Errorf("%s: %w", story.who, err)
	}
	return nil
}

// joins lets somebody begin to work at the ISP.
func joins(email, first, last, role string) func(context.Context, *demoSeed, *router.Simulator) error {
	return func(ctx context.Context, s *demoSeed, _ *router.Simulator) error {
		return s.makeUser(ctx, demoUser{email: email, first: first, last: last, role: role})
	}
}

// asks lets a customer ask for a change of the subscription, for a reason.
func asks(action, reason string) demoAct {
	return func(ctx context.Context, s *demoSeed, a demoAccount) error { return s.change(ctx, a, action, reason) }
}

// notes writes down what the next one at the phone should know about a customer.
func notes(text string) demoAct {
	return func(ctx context.Context, s *demoSeed, a demoAccount) error {
		_, err := s.admin.call(ctx, http.MethodPatch, "/subscribers/"+a.subscriber, "",
			map[string]string{"notes": text})
		return err
	}
}

// blocks shuts a customer out.
func blocks(reason string) demoAct {
	return func(ctx context.Context, s *demoSeed, a demoAccount) error { return s.block(ctx, a, "block", reason) }
}

// unblocks ends a block.
func unblocks(reason string) demoAct {
	return func(ctx context.Context, s *demoSeed, a demoAccount) error { return s.block(ctx, a, "unblock", reason) }
}

// topsUp adds gigabytes to a customer's cap, as a gift.
func topsUp(gigabytes int, reason string) demoAct {
	return func(ctx context.Context, s *demoSeed, a demoAccount) error {
		_, err := s.admin.call(ctx, http.MethodPost, "/subscriptions/"+a.subscription+"/top-ups", a.key+"-top-up",
			map[string]any{"bytes": gigabytes * 1_000_000_000, "reason": reason})
		return err
	}
}

// sells makes vouchers for the counter.
func sells(plan string, count int, prefix string) func(context.Context, *demoSeed, *router.Simulator) error {
	return func(ctx context.Context, s *demoSeed, _ *router.Simulator) error {
		_, err := s.admin.call(ctx, http.MethodPost, "/vouchers", "demo-vouchers-"+prefix, map[string]any{
			"planId": s.plans[plan], "count": count, "prefix": prefix,
		})
		return err
	}
}

// stranger pays the paybill with a reference that no customer has. The money is found to be that of a customer, or
// stays in suspense.
func stranger(
	phone, ref string, amount int, payer string,
) func(context.Context, *demoSeed, *router.Simulator) error {
	return func(ctx context.Context, s *demoSeed, _ *router.Simulator) error {
		receipt, err := s.suspense(ctx, phone, ref, amount)
		if err != nil || payer == "" || receipt == "" {
			return err
		}
		_, err = s.admin.call(ctx, http.MethodPost, "/receipts/"+receipt+"/attribute", "demo-attribute-"+receipt,
			map[string]any{"subscriberId": s.accounts[payer].subscriber})
		return unlessDone(err)
	}
}

// registers brings the ISP's routers into the product, with the customers behind them.
func registers(ctx context.Context, s *demoSeed, routers *router.Simulator) error {
	if err := s.makeRouters(ctx); err != nil {
		return err
	}
	return s.plugRouters(ctx, routers, false)
}

// troubles are those that the demo shows at the present: a router that somebody has changed, and money of a stranger.
// Another router loses its power when the clock has come to the present, because calls to it take long.
func troubles(ctx context.Context, s *demoSeed, routers *router.Simulator) error {
	if err := s.makeSuspense(ctx); err != nil {
		return err
	}
	return s.drift(routers)
}
