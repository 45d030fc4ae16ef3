package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
)

// demoKey begins the keys of idempotency of the demo's customers.
const demoKey = "demo-subscriber-"

// demoAccount has the ids of a customer that the acts of the story use. Keys of idempotency begin with key.
type demoAccount struct {
	key, user, phone, subscriber, number, subscription string
	price                                              int
}

// demoAct plays one event of a customer's life, such as a payment, and waits for its effect.
type demoAct func(ctx context.Context, s *demoSeed, a demoAccount) error

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
	if s.inYear {
		return nil // all payments of the day are awaited together
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

// paysByCash pays at the counter of the ISP, where the money is written into the cash book.
func paysByCash(ctx context.Context, s *demoSeed, a demoAccount) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/payments/cash", a.key+"-cash", map[string]any{
		"subscriberId": a.subscriber, "amount": a.price, "reference": "CB-" + strings.TrimPrefix(a.key, demoKey),
	})
	return unlessDone(err)
}

// stumbles are the ways in which a customer fails to pay before it works.
var stumbles = []demoAct{
	cancelsPrompt,
	func(ctx context.Context, s *demoSeed, a demoAccount) error {
		return s.prompt(ctx, a, "wrong_pin", "FAILED")
	},
	func(ctx context.Context, s *demoSeed, a demoAccount) error {
		return s.prompt(ctx, a, "insufficient", "FAILED")
	},
}

// payAndWait pays and waits until the statement shows it.
func (s *demoSeed) payAndWait(ctx context.Context, a demoAccount, amount int) error {
	if s.inYear {
		_, err := s.payBill(ctx, a.phone, a.number, amount)
		return err
	}
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

// restMost is how long a payment may take that was made before a pause.
const restMost = 30 * time.Second

// rest pauses the customer's only subscription, as soon as it is paid.
func rest(ctx context.Context, s *demoSeed, a demoAccount) error {
	limited, cancel := context.WithTimeout(ctx, restMost)
	defer cancel()
	return until(limited, "pause", func(ctx context.Context) (bool, error) {
		err := s.change(ctx, a, "pause", "away until the rains")
		return err == nil, err
	})
}

// change changes the state of the customer's subscription.
func (s *demoSeed) change(ctx context.Context, a demoAccount, action, reason string) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/subscriptions/"+a.subscription+"/"+action, a.key+"-"+action,
		map[string]string{"reason": reason})
	return err
}

// unlessDone drops the error of a call that an interrupted start has made before.
func unlessDone(err error) error {
	var no *apiError
	if errors.As(err, &no) && no.Status == http.StatusConflict {
		return nil
	}
	return err
}

// isBlocked blocks the subscriber, as an administrator would.
func isBlocked(ctx context.Context, s *demoSeed, a demoAccount) error {
	return s.block(ctx, a, "block", "resells the connection")
}

// block blocks a customer or ends the block.
func (s *demoSeed) block(ctx context.Context, a demoAccount, action, reason string) error {
	_, err := s.admin.call(ctx, http.MethodPost, "/subscribers/"+a.subscriber+"/"+action, a.key+"-"+action,
		map[string]string{"reason": reason})
	return err
}
