// Package paymentsjobs makes the outside calls of mobile money: prompts, status queries and registrations, one call a
// job, and handles the provider's callbacks. Every outcome is reported as a command.
package paymentsjobs

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// Provider is the part of the provider's client that the jobs use. [mobilemoney.Client] has it; tests may give another.
type Provider interface {
	Prompt(ctx context.Context, creds mobilemoney.Credentials,
		q mobilemoney.PromptRequest) (mobilemoney.PromptAnswer, error)
	QueryPrompt(ctx context.Context, creds mobilemoney.Credentials,
		checkoutRequestID string) (mobilemoney.Verdict, error)
	RegisterURLs(ctx context.Context, creds mobilemoney.Credentials, urls mobilemoney.URLs) error
	// Ready fails with failure.Unavailable while the breaker is open.
	Ready() error
	Operator
	Lister
}

// Access holds what is needed to call the provider: with the platform's credentials or an organization's, in either
// environment.
type Access struct {
	Platform mobilemoney.Credentials // without a shortcode there is no shared paybill
	// Bills is the platform's shortcode at the bill manager: mostly that of the shared paybill; "" = none.
	Bills       string
	Initiator   mobilemoney.Initiator // of the platform's paybill; the zero value = none
	Environment string                // of the platform's credentials: PAYMENT_ENV
	Providers   map[string]Provider   // by environment
	Secrets     *vault.Secrets
}

// Credentials gives an organization's own set, or the platform's when ref is zero. Fails: payment_gateway_missing.
func (a Access) Credentials(ctx context.Context, ref id.Secret, shortcode string) (mobilemoney.Credentials, error) {
	if ref.IsZero() {
		if a.Platform.ShortCode == "" {
			return mobilemoney.Credentials{},
				commands.ErrGatewayMissing()
		}
		return a.Platform, nil
	}
	c, err := a.own(ctx, ref)
	if err != nil {
		return mobilemoney.Credentials{}, err
	}
	return mobilemoney.Credentials{
		ConsumerKey: c.ConsumerKey, ConsumerSecret: c.ConsumerSecret, ShortCode: shortcode, Passkey: c.Passkey,
	}, nil
}

// platforms reports whether a shortcode is the platform's own: its paybill, or the one that the bill manager knows.
func (a Access) platforms(shortcode string) bool {
	return shortcode == a.Platform.ShortCode || a.Bills != "" && shortcode == a.Bills
}

// own gives the set of an organization from the vault.
func (a Access) own(ctx context.Context, ref id.Secret) (c commands.GatewayCredentials, err error) {
	plain, err := a.Secrets.Get(ctx, ref)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(plain, &c); err != nil {
		return c, fmt.Errorf("read credentials %s: %w", ref, err)
	}
	return c, nil
}

// initiator gives the initiator of an organization's own set; the zero value when it has none.
func (a Access) initiator(ctx context.Context, ref id.Secret) (mobilemoney.Initiator, error) {
	c, err := a.own(ctx, ref)
	return mobilemoney.Initiator{Name: c.Initiator, SecurityCredential: c.SecurityCredential}, err
}

// Provider gives the client of an environment. Fails: payment_gateway_missing.
func (a Access) Provider(environment string) (Provider, error) {
	if p := a.Providers[environment]; p != nil {
		return p, nil
	}
	return nil, commands.ErrGatewayMissing()
}

// Ready fails with failure.Unavailable while the provider of an environment cannot be called
// (docs/rules/payments.md#open-breaker).
func (a Access) Ready(environment string) error {
	p, err := a.Provider(environment)
	if err != nil {
		return err
	}
	return p.Ready()
}

// Tokens implements mobilemoney.TokenSource with tokens that all replicas share (docs/rules/payments.md#shared-token).
type Tokens struct {
	Vault *vault.ProviderTokens
	// Environment is that of the provider which gives the tokens; the other environment's are other tokens.
	Environment string
	// Fetch asks the provider for a new token: FetchToken of the client's own endpoint.
	Fetch  func(context.Context, mobilemoney.Credentials) (string, error)
	Logger *slog.Logger
}

// Token gives the shared token of a credential set. One replica fetches a missing token while the others wait for it.
func (t Tokens) Token(ctx context.Context, c mobilemoney.Credentials) (string, error) {
	token, err := t.Vault.Token(ctx, t.setOf(c), func(ctx context.Context) (secrets.Text, error) {
		text, err := t.Fetch(ctx, c)
		return secrets.Text(text), err
	})
	return token.Reveal(), err
}

// Drop forgets a token that the provider refused. When the vault cannot be written, the next call gets the same
// refusal.
func (t Tokens) Drop(ctx context.Context, c mobilemoney.Credentials, stale string) {
	if err := t.Vault.Drop(ctx, t.setOf(c), secrets.Text(stale)); err != nil {
		t.Logger.WarnContext(ctx, "refused provider token was not dropped", "error", err)
	}
}

// setOf gives the vault's key of a credential set: the environment, and a hash in hexadecimal, which reveals no secret.
func (t Tokens) setOf(c mobilemoney.Credentials) string {
	sum := c.Fingerprint()
	return t.Environment + " " + hex.EncodeToString(sum[:])
}
