package provider

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Phone sets how the owner of a phone answers prompts. Source: docs/rules/setup.md#provider-simulator.
type Phone struct {
	Behaviour string `json:"behaviour"`
	DelayMs   int    `json:"delayMs"` // 0 means that of Config
	LateMs    int    `json:"lateMs"`  // late_success: from the failure to the success; 0 means that of Config
	// FirstResultCode is the failure of late_success; 1037 when 0.
	FirstResultCode int    `json:"firstResultCode"`
	FirstName       string `json:"firstName"` // shown in C2B callbacks
	MiddleName      string `json:"middleName"`
	LastName        string `json:"lastName"`
}

// The behaviours that the code treats specially; outcomes has the others.
const (
	pays        = "pay"
	silent      = "silent" // the prompt stays open for ever, without a callback
	noAnswer    = "no_answer"
	lateSuccess = "late_success"
)

// defaultPhone is the key of the settings for phones without an entry.
const defaultPhone = "default"

// outcomes maps simple behaviours to result codes. Source: docs/facts/mobile-money.md#result-codes.
var outcomes = map[string]int{
	pays: 0, "cancel": 1032, "wrong_pin": 2001, "insufficient": 1, "busy": 1001, "expired": 1019, "undeliverable": 1025,
	noAnswer: 1037, "internal": 17, "not_permitted": 2028, "pin_locked": 8006,
}

// resultTexts are the provider's texts for its result codes.
var resultTexts = map[int]string{
	0: "The service request is processed successfully.", 1: "The balance is insufficient for the transaction.",
	17:   "Internal failure.",
	1001: "Unable to lock subscriber, a transaction is already in process for the current subscriber",
	1019: "Transaction has expired", 1025: "An error occurred while sending a push request",
	1032: "Request cancelled by user", 1037: "DS timeout user cannot be reached",
	2001: "The initiator information is invalid.", 2028: "The request is not permitted according to product assignment",
	8006: "The security credential is locked.", undecidedVerdict: "The transaction is still under processing",
}

// resultText gives the text of a code; unknown codes are failures.
func resultText(code int) string {
	if t, ok := resultTexts[code]; ok {
		return t
	}
	return "The transaction failed."
}

// step is one verdict of a payer, some time after the one before.
type step struct {
	delay time.Duration
	code  int
}

// valid fails for an unknown behaviour or a negative delay.
func (p Phone) valid() error {
	if _, simple := outcomes[p.Behaviour]; !simple && p.Behaviour != silent && p.Behaviour != lateSuccess {
		return fmt.Errorf("behaviour %q is unknown", p.Behaviour)
	}
	if p.DelayMs < 0 || p.LateMs < 0 {
		return fmt.Errorf("delays must not be negative")
	}
	return nil
}

// plainMSISDN converts the usual ways to write a phone to 254XXXXXXXXX, for the control paths. The provider's own paths
// accept that form only.
func plainMSISDN(phone string) (string, error) {
	plain := strings.TrimPrefix(phone, "+")
	if local, ok := strings.CutPrefix(plain, "0"); ok {
		plain = "254" + local
	}
	if !msisdnShape.MatchString(plain) {
		return "", fmt.Errorf("msisdn must be 254XXXXXXXXX, +254XXXXXXXXX or 0XXXXXXXXX")
	}
	return plain, nil
}

// phone gives the settings of a phone: its own, the default's, or "pay".
func (b *book) phone(msisdn string) Phone {
	if p, ok := b.phones[msisdn]; ok {
		return p
	}
	if p, ok := b.phones[defaultPhone]; ok {
		return p
	}
	return Phone{Behaviour: pays}
}

// script gives the verdicts of a payer on one prompt, in order; none for silent.
func (p Phone) script(cfg Config) []step {
	first := step{delay: cfg.CallbackDelay, code: outcomes[p.Behaviour]}
	if p.Behaviour == noAnswer {
		first.delay = cfg.NoAnswerDelay
	}
	if p.DelayMs > 0 {
		first.delay = time.Duration(p.DelayMs) * time.Millisecond
	}
	switch p.Behaviour {
	case silent:
		return nil
	case lateSuccess:
		first.code = outcomes[noAnswer]
		if p.FirstResultCode != 0 {
			first.code = p.FirstResultCode
		}
		late := cfg.LateDelay
		if p.LateMs > 0 {
			late = time.Duration(p.LateMs) * time.Millisecond
		}
		return []step{first, {delay: late}}
	}
	return []step{first}
}

// play runs the steps one after the other in the background.
func (s *Simulator) play(p *prompt, steps []step) {
	if len(steps) == 0 {
		return
	}
	s.later(steps[0].delay, func(context.Context) {
		s.post(s.settle(p, steps[0].code))
		s.play(p, steps[1:])
	})
}

// settle records a verdict on a prompt, moves the money of a success, and gives the callbacks that report it.
func (s *Simulator) settle(p *prompt, code int) []callback {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.settled, p.code = true, code
	if code != 0 {
		c := s.promptCallback(p, nil)
		return []callback{c}
	}
	t := s.book.move(Transaction{
		Channel: "stk", ShortCode: p.shortCode, Amount: Amount{p.amount}, MSISDN: p.msisdn,
		AccountReference: p.reference, CheckoutRequestID: p.checkoutID,
	}, s.cfg.Clock.Now())
	p.receipt = t.ReceiptNumber
	callbacks := []callback{s.promptCallback(p, &t)}
	if urls, ok := s.book.urls[p.shortCode]; ok && s.book.faults.C2BAlso {
		callbacks = append(callbacks, s.confirmation(urls, t, p.reference, ""))
	}
	return callbacks
}
