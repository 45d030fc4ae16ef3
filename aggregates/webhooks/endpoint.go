// Package webhooks has the rules about endpoints of organizations' own systems: which ones there are, and what they are
// told of.
package webhooks

import (
	"slices"
	"strconv"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Endpoints defines the endpoints: a stream for each.
func Endpoints() aggregates.Definition[Endpoint, commands.WebhookCommand, events.WebhookEvent] {
	return aggregates.Definition[Endpoint, commands.WebhookCommand, events.WebhookEvent]{
		Category: commands.WebhookCategory, Missing: commands.ErrNoWebhook, Evolve: evolveEndpoint,
		Decide: decideEndpoint, Owner: func(s Endpoint) id.Organization { return s.Org },
		Gone: func(s Endpoint) bool { return s.Removed }, Claims: claimsEndpoint, Close: closeEndpoint,
		Commands: []commands.WebhookCommand{
			commands.RegisterWebhook{}, commands.AmendWebhook{}, commands.RotateWebhookSecret{},
			commands.EnableWebhook{}, commands.DisableWebhook{}, commands.PingWebhook{}, commands.RedeliverWebhook{},
			commands.RemoveWebhook{},
		},
	}
}

// Endpoint is one endpoint. The zero value does not exist.
type Endpoint struct {
	ID          id.Webhook
	Org         id.Organization
	Place       int
	URL         string
	Types       []string
	Description string
	Secret      id.Secret
	Former      id.Secret // signs, too, until FormerUntil; zero = none
	FormerUntil time.Time
	Enabled     time.Time // since when it gets what happens; zero = it is disabled
	Removed     bool
}

// evolveEndpoint applies one recorded event.
func evolveEndpoint(s Endpoint, e events.WebhookEvent) Endpoint {
	switch e := e.(type) { // complete: gochecksumtype, no default
	case events.WebhookRegistered:
		return Endpoint{
			ID: e.WebhookID, Org: e.OrgID, Place: e.Place, URL: e.URL, Types: e.Types, Description: e.Description,
			Secret: e.SecretRef, Enabled: e.At,
		}
	case events.WebhookAmended:
		s.URL, s.Types, s.Description = e.URL, e.Types, e.Description
	case events.WebhookSecretRotated:
		s.Secret, s.Former, s.FormerUntil = e.SecretRef, id.Secret{}, time.Time{}
		if e.FormerUntil.After(e.At) {
			s.Former, s.FormerUntil = e.FormerRef, e.FormerUntil
		}
	case events.WebhookEnabled:
		s.Enabled = e.At
	case events.WebhookDisabled:
		s.Enabled = time.Time{}
	case events.WebhookPinged, events.WebhookRedeliveryAsked:
	case events.WebhookRemoved:
		s.Removed = true
	case events.WebhookPeriodClosed:
		return aggregates.Opened[Endpoint](e.Opening)
	}
	return s
}

// closeEndpoint passes the whole state on.
func closeEndpoint(s Endpoint) events.WebhookEvent {
	return events.WebhookPeriodClosed{WebhookID: s.ID, Opening: aggregates.Opening(s)}
}

// claimsEndpoint is the endpoint's place among those of its organization: so they are bounded, whoever registers at
// once.
func claimsEndpoint(s Endpoint) []commands.Claim {
	if s.ID.IsZero() || s.Removed {
		return nil
	}
	return []commands.Claim{{
		Kind: "webhook_place", Value: s.Org.String() + " " + strconv.Itoa(s.Place), Code: "webhook_place_taken",
		Message: "Another endpoint has this place.",
	}}
}

// decideEndpoint only dispatches.
func decideEndpoint(s Endpoint, c commands.WebhookCommand, now time.Time) ([]events.WebhookEvent, error) {
	if c, ok := c.(commands.RegisterWebhook); ok {
		return decideRegister(s, c, now)
	}
	if s.ID.IsZero() || s.Removed {
		return nil, commands.ErrNoWebhook()
	}
	switch c := c.(type) {
	case commands.RegisterWebhook: // above
	case commands.AmendWebhook:
		return decideAmend(s, c, now), nil
	case commands.RotateWebhookSecret:
		return decideRotate(s, c, now), nil
	case commands.EnableWebhook:
		if !s.Enabled.IsZero() {
			return nil, nil
		}
		return []events.WebhookEvent{events.WebhookEnabled{WebhookID: s.ID, OrgID: s.Org, At: now}}, nil
	case commands.DisableWebhook:
		return decideDisable(s, c, now), nil
	case commands.PingWebhook:
		return []events.WebhookEvent{
			events.WebhookPinged{WebhookID: s.ID, OrgID: s.Org, DeliveryID: c.DeliveryID, At: now},
		}, nil
	case commands.RedeliverWebhook:
		if s.Enabled.IsZero() {
			return nil, failure.NewConflict("webhook_disabled", "This endpoint is disabled. Enable it first.")
		}
		return []events.WebhookEvent{
			events.WebhookRedeliveryAsked{WebhookID: s.ID, OrgID: s.Org, DeliveryID: c.DeliveryID, At: now},
		}, nil
	case commands.RemoveWebhook:
		return decideRemove(s, now), nil
	}
	return nil, nil
}

// decideRegister makes an endpoint. One that exists stays as it is.
func decideRegister(s Endpoint, c commands.RegisterWebhook, now time.Time) ([]events.WebhookEvent, error) {
	switch {
	case s.Removed:
		return nil, commands.ErrNoWebhook()
	case !s.ID.IsZero():
		return nil, nil
	}
	return []events.WebhookEvent{events.WebhookRegistered{
		WebhookID: c.WebhookID, OrgID: c.OrgID, Place: c.Place, URL: c.Settings.URL, Types: sorted(c.Settings.Types),
		Description: c.Settings.Description, SecretRef: c.SecretRef, At: now,
	}}, nil
}

// sorted copies types in their order, so that equal sets are equal lists.
func sorted(types []string) []string {
	out := slices.Clone(types)
	slices.Sort(out)
	return out
}

// decideAmend adopts other settings.
func decideAmend(s Endpoint, c commands.AmendWebhook, now time.Time) []events.WebhookEvent {
	types := sorted(c.Settings.Types)
	if s.URL == c.Settings.URL && slices.Equal(s.Types, types) && s.Description == c.Settings.Description {
		return nil
	}
	return []events.WebhookEvent{events.WebhookAmended{
		WebhookID: s.ID, OrgID: s.Org, URL: c.Settings.URL, Types: types, Description: c.Settings.Description, At: now,
	}}
}

// decideRotate adopts a secret. A former one that still signs beside the present one ends: there are two at most.
func decideRotate(s Endpoint, c commands.RotateWebhookSecret, now time.Time) []events.WebhookEvent {
	if c.SecretRef == s.Secret {
		return nil
	}
	return []events.WebhookEvent{events.WebhookSecretRotated{
		WebhookID: s.ID, OrgID: s.Org, SecretRef: c.SecretRef, FormerRef: s.Secret, FormerUntil: now.Add(c.Overlap),
		EndedRef: s.Former, At: now,
	}}
}

// decideDisable ends the deliveries. Failures from before the endpoint was enabled again are no reason.
func decideDisable(s Endpoint, c commands.DisableWebhook, now time.Time) []events.WebhookEvent {
	if s.Enabled.IsZero() || !c.Enabled.IsZero() && !c.Enabled.Equal(s.Enabled) {
		return nil
	}
	return []events.WebhookEvent{events.WebhookDisabled{
		WebhookID: s.ID, OrgID: s.Org, Reason: c.Reason, Since: c.Since, Failed: c.Failed, At: now,
	}}
}

// decideRemove ends the endpoint.
func decideRemove(s Endpoint, now time.Time) []events.WebhookEvent {
	return []events.WebhookEvent{events.WebhookRemoved{
		WebhookID: s.ID, OrgID: s.Org, SecretRef: s.Secret, FormerRef: s.Former, At: now,
	}}
}
