package signingsecrets_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/webhooks/signingsecrets"
)

// The endpoint of these tests.
var (
	now     = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	hook    = id.Derive[id.Webhook]("test", "hook")
	acme    = id.Derive[id.Organization]("test", "acme")
	first   = id.Derive[id.Secret]("test", "first")
	next    = id.Derive[id.Secret]("test", "next")
	third   = id.Derive[id.Secret]("test", "third")
	until   = now.Add(24 * time.Hour)
	rotated = events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, FormerUntil: until, At: now,
	}
)

// drops is the job that deletes secrets.
func drops(refs ...id.Secret) []commands.Job {
	return []commands.Job{commands.DropWebhookSecrets{WebhookID: hook, Refs: refs}}
}

// armed is the timer of the end of an overlap; zero = none.
func armed(at time.Time) []processmanagers.Timer {
	return []processmanagers.Timer{{Name: "over", At: at}}
}

func TestSigningSecrets_TheFormerOneGoesWhenItsOverlapIsOver(t *testing.T) {
	t.Parallel()
	processtest.For(t, signingsecrets.Process(), now).When(rotated).
		Then(processmanagers.Output{Timers: armed(until)})
	processtest.For(t, signingsecrets.Process(), until).Given(rotated).
		WhenDue("over", until).Then(processmanagers.Output{Jobs: drops(first)})
}

func TestSigningSecrets_WithoutAnOverlapItGoesAtOnce(t *testing.T) {
	t.Parallel()
	leaked := rotated
	leaked.FormerUntil = now
	processtest.For(t, signingsecrets.Process(), now).When(leaked).
		Then(processmanagers.Output{Jobs: drops(first), Timers: armed(time.Time{})})
}

func TestSigningSecrets_ARotationDuringTheOverlapEndsTheOneBefore(t *testing.T) {
	t.Parallel()
	again := events.WebhookSecretRotated{
		WebhookID: hook, OrgID: acme, SecretRef: third, FormerRef: next, FormerUntil: until.Add(time.Hour),
		EndedRef: first, At: now.Add(time.Hour),
	}
	processtest.For(t, signingsecrets.Process(), now).Given(rotated).When(again).
		Then(processmanagers.Output{Jobs: drops(first), Timers: armed(again.FormerUntil)})
}

func TestSigningSecrets_ARemovedEndpointKeepsNone(t *testing.T) {
	t.Parallel()
	removed := events.WebhookRemoved{WebhookID: hook, OrgID: acme, SecretRef: next, FormerRef: first, At: now}
	processtest.For(t, signingsecrets.Process(), now).Given(rotated).When(removed).
		Then(processmanagers.Output{Jobs: drops(next, first)})
}
