// Package messagegateway hands messages over: e-mails to a mail server, and texts for phones to an SMS provider or to
// WhatsApp. Each
// call hands one message over once, and tells the three ways in which that can end apart: taken, refused or not taken,
// and unclear. Whether a message is handed over again is decided elsewhere. Source: docs/rules/messaging.md#gateways,
// docs/facts/messaging.md#smtp, docs/rules/engine.md#breaker.
package messagegateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
)

// The breaker's kinds. An open breaker fails with code email_unavailable, sms_unavailable or whatsapp_unavailable.
const (
	KindEmail    = "email"
	KindSMS      = "sms"
	KindWhatsApp = "whatsapp"
)

// Guard is the circuit breaker of every call; package gateways/breaker implements it.
type Guard interface {
	// Do runs call, or fails with failure.Unavailable without running it. An error of call counts as a failure of the
	// target.
	Do(ctx context.Context, kind, target string, call func(ctx context.Context) error) error
}

// Config is read by the constructors once.
type Config struct {
	Guard   Guard         // required
	Clock   clock.Clock   // the machine's when nil
	Logger  *slog.Logger  // silent when nil
	Timeout time.Duration // of one message; 20 s when 0
}

// withDefaults fills what is not set.
func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 20*time.Second)
	if c.Clock == nil {
		c.Clock = clock.System()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Taken tells what the other side says about a message that it took.
type Taken struct {
	Reference string // under which the provider reports about it; "" = it does not
	Cost      string // as the provider writes it, such as "KES 0.8000"; "" = it says none
}

// ErrUnclear is the failure of a message that the other side may have taken: its answer was lost. Handed over again it
// might arrive twice.
var ErrUnclear = errors.New("the message may have been taken: its answer was lost")

// Refused is the other side's refusal of one message, which it would refuse again.
type Refused struct {
	Code string // of ours, such as CodeAddress
	Text string // the other side's words, without control characters
}

// Error gives code and text.
func (r *Refused) Error() string { return r.Code + ": " + r.Text }

// Codes of refusals.
const (
	CodeAddress  = "address_refused"  // there is no such phone or mailbox, or it takes no messages
	CodeBlocked  = "opted_out"        // the person has refused all messages of the sender
	CodeTemplate = "template_refused" // the provider has not approved such a text
	CodeRejected = "gateway_refused"  // anything else
)

// maxText bounds the words of the other side, in bytes.
const maxText = 300

// refused makes a refusal in the other side's words.
func refused(code, text string) *Refused {
	text = strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text), "")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return &Refused{Code: code, Text: strings.TrimSpace(text)}
}

// ended gives a call's error its outcome in the log line, and makes an unavailable failure of what was not taken.
func ended(kind string, err error) (outcome string, out error) {
	var no *Refused
	var known *failure.Error
	switch {
	case err == nil:
		return "taken", nil
	case errors.As(err, &no):
		return "refused", no
	case errors.Is(err, ErrUnclear):
		return "unclear", err
	case errors.As(err, &known):
		return "unavailable", known
	}
	return "unavailable", failure.NewUnavailable(kind+"_unavailable",
		"Messages cannot be sent at the moment. They are tried again by themselves.", 0, err)
}
