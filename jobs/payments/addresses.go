package paymentsjobs

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Kinds of callback tokens in the vault. They are stored with the tokens and never change.
const (
	TokenPrompt  = "stk"
	TokenPaybill = "c2b"
)

// Paths of the paybill callbacks. Source: docs/rules/payments.md#callback-endpoints.
const (
	confirmationPath = "/webhooks/mobile-money/c2b/confirmation"
	validationPath   = "/webhooks/mobile-money/c2b/validation"
	billPath         = "/webhooks/billmanager/payment"
)

// Addresses makes the secret addresses at which the provider calls us (docs/rules/payments.md#secret-addresses). They
// are never logged.
type Addresses struct {
	// Prompt is PAYMENT_CALLBACK_URL, without a final slash. Paybill addresses share its scheme and host.
	Prompt string
	Tokens *vault.CallbackSecrets
}

// OfPrompt gives the callback address of one attempt. The token in it belongs to that attempt; asked again, the address
// is the same.
func (a Addresses) OfPrompt(
	ctx context.Context, payment id.Payment, org id.Organization, shortcode string,
) (string, error) {
	token, err := a.Tokens.Issue(ctx, vault.CallbackOwner{
		Kind: TokenPrompt, Ref: payment.UUID(), OrgID: org, Shortcode: shortcode,
	})
	if err != nil {
		return "", err
	}
	return strings.TrimRight(a.Prompt, "/") + "/" + token.Reveal(), nil
}

// OfPaybill gives the callback addresses of a shortcode that an organization uses in an environment; zero for the
// platform's shortcode. Each environment has addresses of its own.
func (a Addresses) OfPaybill(
	ctx context.Context, org id.Organization, environment, shortcode string,
) (mobilemoney.URLs, error) {
	root, err := a.root()
	if err != nil {
		return mobilemoney.URLs{}, err
	}
	token, err := a.Tokens.Issue(ctx, paybillOwner(org, environment, shortcode))
	if err != nil {
		return mobilemoney.URLs{}, err
	}
	return mobilemoney.URLs{
		Confirmation: root + confirmationPath + "/" + token.Reveal(),
		Validation:   root + validationPath + "/" + token.Reveal(),
	}, nil
}

// OfBills gives the address to which the bill manager reports payments. It has no secret.
func (a Addresses) OfBills() (string, error) {
	root, err := a.root()
	return root + billPath, err
}

// root is scheme and host of the addresses.
func (a Addresses) root() (string, error) {
	base, err := url.Parse(a.Prompt)
	if err != nil || base.Host == "" {
		return "", fmt.Errorf("callback address is not a URL")
	}
	return base.Scheme + "://" + base.Host, nil
}

// paybillOwner is the owner of the token in the addresses of a shortcode.
func paybillOwner(org id.Organization, environment, shortcode string) vault.CallbackOwner {
	return vault.CallbackOwner{
		Kind: TokenPaybill, Ref: shortcodeOf(org, environment, shortcode).UUID(), OrgID: org, Shortcode: shortcode,
	}
}
