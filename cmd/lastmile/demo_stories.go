package main

import (
	"context"
	"errors"
	"net/http"
)

// demoPlan is one plan of the demo ISP. Prices are in whole shillings, rates in kbit/s.
type demoPlan struct {
	code, name, kind, mode, period string
	price, down, up                int
}

// demoPlans has prepaid plans by the month and by the day, and a postpaid one.
var demoPlans = []demoPlan{
	{
		code: "home-10", name: "Home 10 Mbps", kind: "pppoe", mode: "prepaid", period: "month", price: 1500,
		down: 10_000, up: 5_000,
	},
	{
		code: "home-20", name: "Home 20 Mbps", kind: "pppoe", mode: "prepaid", period: "month", price: 2500,
		down: 20_000, up: 10_000,
	},
	{
		code: "day-pass", name: "Day pass", kind: "hotspot", mode: "prepaid", period: "day", price: 50, down: 5_000,
		up: 2_000,
	},
	{
		code: "business-50", name: "Business 50 Mbps", kind: "pppoe", mode: "postpaid", period: "month", price: 9000,
		down: 50_000, up: 50_000,
	},
}

// demoPrice gives the price of a plan in whole shillings; 0 for a code that no plan has.
func demoPrice(code string) int {
	for _, p := range demoPlans {
		if p.code == code {
			return p.price
		}
	}
	return 0
}

// demoCustomer is one subscriber, with the plan and the acts that are played after the registration.
type demoCustomer struct {
	first, last, tag, plan string
	story                  []demoAct
}

// demoAccount has the ids of a customer that the acts of the story use.
type demoAccount struct {
	key, phone, subscriber, number, subscription string
	price                                        int
}

// demoAct plays one event of a customer's life, such as a payment, and waits for its effect.
type demoAct func(ctx context.Context, s *demoSeed, a demoAccount) error

// demoCustomers has a customer in each state that the demo shows.
var demoCustomers = []demoCustomer{
	{"Acacia", "House", "north", "home-10", []demoAct{paysByPrompt}},
	{"Baobab", "Court", "north", "home-20", []demoAct{paysByPrompt}},
	{"Cedar", "Flats", "north", "home-10", []demoAct{paysByPaybill}},
	// the second payment is credit for the next month
	{"Dovu", "Villa", "south", "home-20", []demoAct{paysByPaybill, paysByPaybill}},
	{"Ebony", "Kiosk", "market", "day-pass", []demoAct{paysByPrompt}},
	{"Fig", "Cafe", "market", "business-50", nil}, // postpaid: served now, pays by the end of the month
	{"Grevillea", "Clinic", "market", "business-50", []demoAct{paysByPrompt}},
	{"Hibiscus", "House", "south", "home-10", nil},                      // never paid: pending
	{"Ironwood", "House", "south", "home-10", []demoAct{cancelsPrompt}}, // pressed cancel on the phone
	// a part of the invoice is paid, and the period has not begun
	{"Jacaranda", "House", "north", "home-20", []demoAct{paysPart}},
	{"Kapok", "Lodge", "north", "home-10", []demoAct{paysByPrompt, rest}}, // paused while away
	{"Lantana", "Shop", "market", "home-10", []demoAct{paysByPrompt, isBlocked}},
}

// paysByPrompt sends a prompt, and the customer enters the PIN.
func paysByPrompt(ctx context.Context, s *demoSeed, a demoAccount) error {
	return s.prompt(ctx, a, "pay", "SUCCESS")
}

// cancelsPrompt sends a prompt, and the customer cancels it.
func cancelsPrompt(ctx context.Context, s *demoSeed, a demoAccount) error {
	return s.prompt(ctx, a, "cancel", "CANCELLED")
}

// prompt sets the behaviour of the simulated phone, initiates a payment of the plan's price, and waits for the status.
func (s *demoSeed) prompt(ctx context.Context, a demoAccount, behaviour, status string) error {
	if _, err := s.sim.call(ctx, http.MethodPut, "/sim/phones/"+a.phone, "",
		map[string]any{"behaviour": behaviour}); err != nil {
		return err
	}
	made, err := s.admin.call(ctx, http.MethodPost, "/payments/initiate", a.key+"-"+behaviour, map[string]any{
		"subscriberId": a.subscriber, "amount": a.price,
	})
	var no *apiError
	if errors.As(err, &no) && no.Code == "payment_in_progress" {
		return nil // begun by a start that was interrupted
	}
	if err != nil {
		return err
	}
	return until(ctx, "payment "+made.text("paymentId")+" to be "+status, func(ctx context.Context) (bool, error) {
		now, err := s.admin.call(ctx, http.MethodGet, "/payments/"+made.text("paymentId"), "", nil)
		return now.text("status") == status, err
	})
}

// paysByPaybill pays the whole price at the paybill, with the account number as reference.
func paysByPaybill(ctx context.Context, s *demoSeed, a demoAccount) error {
	return s.payAndWait(ctx, a, a.price)
}

// paysPart pays less than the price at the paybill.
func paysPart(ctx context.Context, s *demoSeed, a demoAccount) error {
	return s.payAndWait(ctx, a, a.price/2)
}

// payAndWait pays and waits until the statement shows it.
func (s *demoSeed) payAndWait(ctx context.Context, a demoAccount, amount int) error {
	lines := func(ctx context.Context) (int, error) {
		page, err := s.admin.call(ctx, http.MethodGet, "/subscribers/"+a.subscriber+"/statement?limit=100", "", nil)
		return len(page.list("data")), err
	}
	before, err := lines(ctx)
	if err != nil {
		return err
	}
	if _, err := s.payBill(ctx, a.phone, a.number, amount); err != nil {
		return err
	}
	return until(ctx, "paybill payment of "+a.number, func(ctx context.Context) (bool, error) {
		now, err := lines(ctx)
		return now > before, err
	})
}

// rest pauses the customer's only subscription.
func rest(ctx context.Context, s *demoSeed, a demoAccount) error {
	return until(ctx, "pause", func(ctx context.Context) (bool, error) {
		_, err := s.admin.call(ctx, http.MethodPost, "/subscriptions/"+a.subscription+"/pause", a.key+"-pause",
			map[string]string{"reason": "away until the rains"})
		return err == nil, err
	})
}

// isBlocked blocks the subscriber, as an administrator would.
func isBlocked(ctx context.Context, s *demoSeed, a demoAccount) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/subscribers/"+a.subscriber+"/block", a.key+"-block",
		map[string]string{"reason": "resells the connection"})
	return err
}
