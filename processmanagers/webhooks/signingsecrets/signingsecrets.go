// Package signingsecrets deletes the secrets of webhook endpoints that sign nothing any more:
//
//	rotated ──► overlap ──timer──► DropWebhookSecrets (the former one)
//	rotated during the overlap ──► DropWebhookSecrets (the one before the former one)
//	removed ──► DropWebhookSecrets (all that it had)
//
// Source: docs/rules/webhooks.md#webhook-secrets.
package signingsecrets

import (
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/processmanagers"
)

// timerOver comes due when the former secret of an endpoint signs no more.
const timerOver = "over"

// State is the former secret of one endpoint, which still signs. The zero value is none.
type State struct {
	Webhook id.Webhook `json:"webhook"`
	Former  id.Secret  `json:"former"`
}

// Process has an instance for each endpoint whose former secret still signs.
func Process() processmanagers.Process[State] {
	return processmanagers.Process[State]{
		Name: "webhook_secrets",
		On: []processmanagers.Handled{
			processmanagers.On(func(e events.WebhookSecretRotated) string { return e.WebhookID.String() }),
			processmanagers.Follow(func(e events.WebhookRemoved) string { return e.WebhookID.String() }),
		},
		Decide: decide, Evolve: evolve,
		Ended: func(s State) bool { return s.Former.IsZero() },
	}
}

// evolve remembers the former secret until its overlap is over.
func evolve(_ State, in processmanagers.Input) State {
	if in.Event != nil {
		if e, ok := in.Event.Event.(events.WebhookSecretRotated); ok && e.FormerUntil.After(e.At) {
			return State{Webhook: e.WebhookID, Former: e.FormerRef}
		}
	}
	return State{}
}

// decide deletes what signs no more. A job that comes twice deletes nothing the second time.
func decide(s State, in processmanagers.Input, _ time.Time) (processmanagers.Output, error) {
	if in.Timeout != nil {
		return drop(s.Webhook, s.Former), nil
	}
	if in.Event == nil {
		return processmanagers.Output{}, nil
	}
	switch e := in.Event.Event.(type) {
	case events.WebhookSecretRotated:
		if !e.FormerUntil.After(e.At) {
			out := drop(e.WebhookID, e.FormerRef, e.EndedRef)
			out.Timers = []processmanagers.Timer{{Name: timerOver}}
			return out, nil
		}
		out := drop(e.WebhookID, e.EndedRef)
		out.Timers = []processmanagers.Timer{{Name: timerOver, At: e.FormerUntil}}
		return out, nil
	case events.WebhookRemoved:
		return drop(e.WebhookID, e.SecretRef, e.FormerRef), nil
	}
	return processmanagers.Output{}, nil
}

// drop asks for the deletion of those references that are any.
func drop(webhook id.Webhook, refs ...id.Secret) processmanagers.Output {
	job := commands.DropWebhookSecrets{WebhookID: webhook}
	for _, ref := range refs {
		if !ref.IsZero() {
			job.Refs = append(job.Refs, ref)
		}
	}
	if len(job.Refs) == 0 {
		return processmanagers.Output{}
	}
	return processmanagers.Output{Jobs: []commands.Job{job}}
}
