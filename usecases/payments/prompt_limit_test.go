package paymentscases_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/coretest"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// askers are organizations with a customer each, all of whom have named the same phone.
type askers struct {
	*kit
	t      *testing.T
	amount int // of the next prompt: an account has one open prompt of an amount
}

// ask asks the phone for a payment to an organization's customer, and gives the failure's code, "" for a prompt.
func (a *askers) ask(org id.Organization, customer id.Subscriber) string {
	a.t.Helper()
	a.amount++
	_, err := a.prompts.Initiate(a.t.Context(), coretest.Keyed(org), paymentscases.PromptInput{
		SubscriberID: customer, Amount: usecases.Figure(fmt.Sprint(a.amount)), Phone: personal.Of("0712345678"),
	})
	return failure.CodeOf(err)
}

// asked expects so many prompts of ten tries.
func (a *askers) asked(org id.Organization, customer id.Subscriber, want int) {
	a.t.Helper()
	got := 0
	for range 10 {
		switch code := a.ask(org, customer); code {
		case "":
			got++
		case "too_many_prompts":
		default:
			a.t.Errorf("refused with %q", code)
		}
	}
	if got != want {
		a.t.Errorf("the phone was asked %d times, want %d", got, want)
	}
}

// third makes one more organization with a customer.
func (a *askers) third() (id.Organization, id.Subscriber) {
	a.t.Helper()
	org, customer := id.New[id.Organization](), id.New[id.Subscriber]()
	a.run(a.t, coretest.NewOrganization(org, "third"))
	a.run(a.t, coretest.NewSubscriber(customer, org, 7))
	return org, customer
}

func TestPromptLimit_ANeighbourDoesNotUseItUp(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	a.asked(a.other, a.brian, 3)
	a.asked(a.org, a.amina, 3)
}

func TestPromptLimit_APhoneIsNotPesteredByAllTogether(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	org, customer := a.third()
	a.asked(a.other, a.brian, 3)
	a.asked(a.org, a.amina, 3)
	a.asked(org, customer, 0)
	a.clock.Advance(21 * time.Minute)
	a.asked(org, customer, 3)
}

func TestPromptLimit_ARefusedPromptCountsForNobody(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	org, customer := a.third()
	a.asked(a.other, a.brian, 3)
	for range 5 {
		a.asked(a.other, a.brian, 0)
	}
	a.asked(a.org, a.amina, 3)
	a.asked(org, customer, 0)
	if n := len(a.open(t)); n != 3 {
		t.Errorf("%d prompts are reserved on the account of the refused ones", n)
	}
	// Refused for all together, the third has not used up what it may ask itself.
	a.prompts.Limit = 100
	a.asked(org, customer, 10)
}

func TestPromptLimit_WhatTheAccountRefusesDoesNotCount(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	if code := a.ask(a.org, a.amina); code != "" {
		t.Fatal(code)
	}
	for range 5 {
		a.amount = 0
		if code := a.ask(a.org, a.amina); code != "payment_in_progress" {
			t.Errorf("the same amount again: %q", code)
		}
	}
	a.asked(a.org, a.amina, 2)
}

func TestPromptLimit_TriesInTheSandboxTakeNoRealPrompts(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	org, customer := a.third()
	a.asked(a.org, a.amina, 3)
	a.asked(a.other, a.brian, 3) // the sandbox has used up what all organizations may ask there
	a.prompts.Platform.Environment = commands.EnvironmentProduction
	a.asked(org, customer, 3)
}

// TestPromptLimit_ACustomerHasADay: however long the pauses, so that a mistyped contact is not asked day and night.
// Staff, and another customer, ask the same phone on.
func TestPromptLimit_ACustomerHasADay(t *testing.T) {
	t.Parallel()
	a := &askers{kit: newKit(t), t: t}
	by := func(customer *paymentscases.Customer) string {
		a.amount++
		_, err := a.prompts.Initiate(t.Context(), coretest.Keyed(a.org), paymentscases.PromptInput{
			SubscriberID: a.amina, Amount: usecases.Figure(fmt.Sprint(a.amount)), Customer: customer,
		})
		return failure.CodeOf(err)
	}
	one, two := paymentscases.Customer{UserID: id.New[id.User]()}, paymentscases.Customer{UserID: id.New[id.User]()}
	for range 10 {
		for range 3 {
			if code := by(&one); code != "" {
				t.Fatalf("prompt %d is refused: %s", a.amount, code)
			}
		}
		a.clock.Advance(21 * time.Minute)
	}
	if code := by(&one); code != "too_many_prompts" {
		t.Errorf("the 31st prompt of a day: %q", code)
	}
	if staff, other := by(nil), by(&two); staff != "" || other != "" {
		t.Errorf("others are refused for it: %q, %q", staff, other)
	}
	a.clock.Advance(48 * time.Hour)
	if code := by(&one); code != "" {
		t.Errorf("the next day: %q", code)
	}
}
