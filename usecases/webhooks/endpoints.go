// Package webhookscases has the use cases about endpoints of organizations' own systems and what is delivered to them.
package webhookscases

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/webhooks"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Endpoints registers, changes and ends endpoints, and has messages delivered on request. All fields are required. Safe
// for concurrent use.
type Endpoints struct {
	Bus     *bus.Bus
	Secrets *vault.Secrets
	// Allows refuses an address that the platform does not call. The text of its error goes behind the word "url".
	Allows     func(address string) error
	Deliveries Deliveries
	Limiter    vault.Limiter
	Clock      clock.Clock
}

// Deliveries has the messages on their way. Implementations are safe for concurrent use.
type Deliveries interface {
	// Get gives a delivery of an organization, nil when it has none with this id.
	Get(ctx context.Context, org id.Organization, which id.Delivery) (*webhooksviews.DeliveryRow, error)
	// Again has a delivery of an organization tried anew; one that is just being tried stays as it is.
	Again(ctx context.Context, org id.Organization, which id.Delivery, now time.Time) error
	// Ping makes the delivery of a message that only tries an endpoint, once for each message.
	Ping(ctx context.Context, p Ping, now time.Time) error
	// Wake has those who deliver look at once.
	Wake()
}

// Ping is a message that only tries an endpoint.
type Ping struct {
	OrgID     id.Organization
	WebhookID id.Webhook
	MessageID id.Any
	Position  uint64 // of its event in the log
	At        time.Time
}

// secretPrefix begins every secret, so that it is known for one wherever it turns up.
const secretPrefix = "whsec_"

// secretSize is the length of a secret in bytes; Standard Webhooks want 24 to 64.
const secretSize = 32

// newSecret makes a secret from random numbers.
func newSecret() secrets.Text {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // never fails
	return secrets.Text(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// Register stores a new secret in the vault, then makes the endpoint at the first free place of the organization, and
// gives the secret, which is shown this once. A crash in between leaves a secret to which no endpoint refers. A repeat
// under the same key finds the endpoint with its secret. Fails: invalid_input, webhook_limit_reached.
func (e Endpoints) Register(
	ctx context.Context, asked usecases.Asked, in commands.WebhookSettings,
) (which id.Webhook, secret secrets.Text, done bus.Result, err error) {
	which = usecases.NewID[id.Webhook](asked, "webhook")
	command := commands.RegisterWebhook{
		WebhookID: which, OrgID: asked.Org(), Place: 1, Settings: tidied(in),
		SecretRef: usecases.NewID[id.Secret](asked, commands.WebhookSecretPurpose),
	}
	if err := e.check(command.Settings.URL, command.Validate()); err != nil {
		return which, "", done, err
	}
	if secret, err = e.keep(ctx, asked.Org(), command.SecretRef); err != nil {
		return which, "", done, err
	}
	for ; command.Place <= commands.WebhooksPerOrganization; command.Place++ {
		done, err = e.Bus.Execute(ctx, command, asked.Meta)
		if failure.CodeOf(err) != "webhook_place_taken" {
			break
		}
	}
	if failure.CodeOf(err) == "webhook_place_taken" {
		err = failure.NewConflict("webhook_limit_reached",
			"Your organization has as many webhook endpoints as it may have. Delete one that is no longer used.")
	}
	if err != nil {
		return which, "", done, e.forgetRefused(ctx, which, command.SecretRef, err)
	}
	e.Deliveries.Wake()
	return which, secret, done, nil
}

// tidied removes spaces around texts.
func tidied(in commands.WebhookSettings) commands.WebhookSettings {
	in.URL, in.Description = strings.TrimSpace(in.URL), strings.TrimSpace(in.Description)
	return in
}

// check joins the faults of a command with that of its address.
func (e Endpoints) check(address string, invalid error) error {
	if invalid != nil {
		return invalid
	}
	var f failure.Faults
	if err := e.Allows(address); err != nil {
		f.Check(false, "url", "%s", err.Error())
	}
	return f.Err()
}

// keep stores a new secret under a reference, and gives the one that has the reference: of two equal requests at once
// both mean the same.
func (e Endpoints) keep(ctx context.Context, org id.Organization, ref id.Secret) (secrets.Text, error) {
	kept := vault.Secret{Ref: ref, OrgID: org, Purpose: commands.WebhookSecretPurpose}
	if err := e.Secrets.Put(ctx, kept, []byte(newSecret().Reveal())); err != nil {
		return "", fmt.Errorf("keep webhook secret: %w", err)
	}
	plain, err := e.Secrets.Get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("read webhook secret: %w", err)
	}
	return secrets.Text(plain), nil
}

// forgetRefused deletes the secret of a command that was certainly refused, unless the endpoint has it.
func (e Endpoints) forgetRefused(ctx context.Context, which id.Webhook, ref id.Secret, err error) error {
	switch failure.KindOf(err) {
	case failure.Conflict, failure.Stale, failure.NotFound, failure.Invalid:
	default:
		return err
	}
	present, _, fault := bus.LoadUnchecked[webhooks.Endpoint](ctx, e.Bus, which)
	if fault != nil {
		return errors.Join(err, fault)
	}
	if ref != present.Secret && ref != present.Former {
		err = errors.Join(err, e.Secrets.Delete(ctx, ref))
	}
	return err
}

// Change has the new values of an endpoint; nil = no change.
type Change struct {
	URL         *string
	Types       []string
	Description *string
	Enabled     *bool
}

// Change adopts other settings, then enables or disables the endpoint. If-Match is checked with whatever comes first; a
// crash in between leaves the state as it was, and a repeat under the same key goes on. Fails: webhook_not_found,
// invalid_input, stale_revision, concurrent_change.
func (e Endpoints) Change(
	ctx context.Context, asked usecases.Asked, which id.Webhook, in Change,
) (done bus.Result, err error) {
	settings := in.URL != nil || in.Types != nil || in.Description != nil
	if settings || in.Enabled == nil {
		done, err = usecases.Amend(ctx, e.Bus, asked, which, func(present webhooks.Endpoint) (commands.Command, error) {
			command := commands.AmendWebhook{WebhookID: which, Settings: tidied(commands.WebhookSettings{
				URL: null.Or(in.URL, present.URL), Types: in.types(present),
				Description: null.Or(in.Description, present.Description),
			})}
			return command, e.check(command.Settings.URL, command.Validate())
		})
		if err != nil {
			return done, err
		}
	}
	if in.Enabled != nil {
		meta := asked.Meta
		if settings {
			meta = asked.Step("state")
		}
		if done, err = e.turn(ctx, which, *in.Enabled, meta); err != nil {
			return done, err
		}
	}
	e.Deliveries.Wake()
	return done, nil
}

// types are those that the endpoint gets after the change.
func (in Change) types(present webhooks.Endpoint) []string {
	if in.Types == nil {
		return slices.Clone(present.Types)
	}
	return in.Types
}

// turn enables or disables an endpoint.
func (e Endpoints) turn(ctx context.Context, which id.Webhook, on bool, meta commands.Meta) (bus.Result, error) {
	if on {
		return e.Bus.Execute(ctx, commands.EnableWebhook{WebhookID: which}, meta)
	}
	return e.Bus.Execute(ctx, commands.DisableWebhook{WebhookID: which, Reason: events.WebhookOffAsked}, meta)
}

// Rotate stores another secret in the vault and signs with it from now on, and for a while with the present one, too.
// It gives the new secret, which is shown this once. Fails: webhook_not_found, invalid_input, stale_revision.
func (e Endpoints) Rotate(
	ctx context.Context, asked usecases.Asked, which id.Webhook, overlap time.Duration,
) (secret secrets.Text, done bus.Result, err error) {
	if _, _, err := bus.LoadOwned[webhooks.Endpoint](ctx, e.Bus, asked.Org(), which); err != nil {
		return "", done, err
	}
	command := commands.RotateWebhookSecret{
		WebhookID: which, SecretRef: usecases.NewID[id.Secret](asked, commands.WebhookSecretPurpose), Overlap: overlap,
	}
	if err := command.Validate(); err != nil {
		return "", done, err
	}
	if secret, err = e.keep(ctx, asked.Org(), command.SecretRef); err != nil {
		return "", done, err
	}
	if done, err = e.Bus.Execute(ctx, command, asked.Meta); err != nil {
		return "", done, e.forgetRefused(ctx, which, command.SecretRef, err)
	}
	e.Deliveries.Wake()
	return secret, done, nil
}

// Remove ends an endpoint; what waits for it ends, too. Fails: webhook_not_found, stale_revision.
func (e Endpoints) Remove(ctx context.Context, asked usecases.Asked, which id.Webhook) (bus.Result, error) {
	done, err := e.Bus.Execute(ctx, commands.RemoveWebhook{WebhookID: which}, asked.Meta)
	if err == nil {
		e.Deliveries.Wake()
	}
	return done, err
}
