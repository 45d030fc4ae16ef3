package mobilemoney

import (
	"context"
	"encoding/json"
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

// RegisterURLs registers the addresses for the paybill payments of the credentials' shortcode. Repeating it is
// harmless. Fails: failure.Refused with the provider's words, failure.Unavailable, failure.Invalid.
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
	if res.err != nil || res.refusal() != nil || json.Unmarshal(res.body, &reply) != nil || reply.ResponseCode == "" {
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
