package mobilemoney

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/failure"
)

// URLs are the C2B addresses of a shortcode. Each has a secret token in it, so they are never logged
// (docs/rules/payments.md#secret-addresses).
type URLs struct {
	Confirmation string
	Validation   string
	// CancelUnvalidated makes the provider cancel a payment when our validation does not answer. By default the
	// provider completes the payment, and money without a payer goes to suspense.
	CancelUnvalidated bool
}

// registerBody is a registration on the wire. Source: docs/facts/mobile-money.md#c2b-registration.
type registerBody struct {
	ShortCode       string
	ResponseType    string
	ConfirmationURL string
	ValidationURL   string
}

// Fingerprint names the addresses without revealing the secret in them.
func (u URLs) Fingerprint() string {
	sum := sha256.Sum256([]byte(u.Confirmation + "\x00" + u.Validation))
	return hex.EncodeToString(sum[:])
}

// CodeRegistered is the code of the failure when the provider has addresses of the shortcode already. It does not say
// which ones, and in production it keeps them until somebody deletes them in its portal.
const CodeRegistered = "callback_addresses_registered"

// errUnsent marks a registration of which no byte reached the provider.
var errUnsent = errors.New("not sent")

// NothingRegistered reports whether a failed registration certainly changed nothing at the provider: it was not sent,
// or the provider refused it. A lost answer and an internal error of the provider leave it open.
func NothingRegistered(err error) bool {
	var refusal *Refusal
	switch {
	case errors.Is(err, errUnsent), failure.KindOf(err) == failure.Invalid:
		return true
	case errors.As(err, &refusal):
		return refusal.Status < http.StatusInternalServerError && failure.CodeOf(err) != CodeRegistered
	}
	return false
}

// codeAddressRefused is the provider's code for an address that it does not take. Source:
// docs/facts/mobile-money.md#forbidden-words.
const codeAddressRefused = "400.003.02"

// AddressRefused reports whether a registration failed because the provider does not take such an address.
func AddressRefused(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Code == codeAddressRefused
}

// RegisterURLs registers the addresses for the paybill payments of the credentials' shortcode. Production takes them
// once for a shortcode, the sandbox as often as it is asked. The provider checks the token first, so the answer
// CodeRegistered proves the credentials, too. Fails: CodeRegistered, failure.Refused with the provider's words,
// failure.Unavailable, failure.Invalid; [NothingRegistered] says what a failure means.
func (c *Client) RegisterURLs(ctx context.Context, creds Credentials, urls URLs) error {
	if err := creds.check(); err != nil {
		return err
	}
	var faults failure.Faults
	faults.Check(urls.Confirmation != "", "confirmationUrl", "is required")
	faults.Check(urls.Validation != "", "validationUrl", "is required")
	if err := faults.Err(); err != nil {
		return err
	}
	body := registerBody{
		ShortCode: creds.ShortCode, ResponseType: "Completed", ConfirmationURL: urls.Confirmation,
		ValidationURL: urls.Validation,
	}
	if urls.CancelUnvalidated {
		body.ResponseType = "Cancelled"
	}
	res := c.authorised(ctx, "register_urls", pathRegister, creds, body)
	var reply struct{ ResponseCode, ResponseDescription text }
	if res.err != nil && !res.sent {
		return unavailable(fmt.Errorf("register c2b addresses: %w: %w", errUnsent, res.err))
	}
	unreadable := json.Unmarshal(res.body, &reply) != nil
	if refusal := res.alreadyRegistered(string(reply.ResponseDescription)); refusal != nil {
		return &failure.Error{Kind: failure.Refused, Code: CodeRegistered, Cause: refusal,
			Message: "The payment provider has callback addresses of this shortcode already."}
	}
	if res.err != nil || res.refusal() != nil || unreadable || reply.ResponseCode == "" {
		return res.failed("register c2b addresses")
	}
	// "0", or "00000000" on some shortcodes
	if strings.Trim(string(reply.ResponseCode), "0") != "" || res.status != http.StatusOK {
		refusal := &Refusal{
			Status: res.status, Code: string(reply.ResponseCode), Message: string(reply.ResponseDescription),
		}
		return &failure.Error{Kind: failure.Refused, Code: "provider_refused", Message: refusal.Message, Cause: refusal}
	}
	return nil
}

// alreadyRegistered gives the refusal of a second registration, nil for another answer. The provider has two forms of
// it, an error and a description without a code; its error code is that of other internal errors too, so the words
// decide. Source: docs/facts/mobile-money.md#c2b-registration.
func (r result) alreadyRegistered(description string) *Refusal {
	refusal := r.refusal()
	if refusal == nil {
		refusal = &Refusal{Status: r.status, Message: description}
	}
	if r.err != nil || !strings.Contains(strings.ToLower(refusal.Message), "already registered") {
		return nil
	}
	return refusal
}
