package commands

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// WebhookCategory begins the names of the streams of endpoints.
const WebhookCategory = "webhook"

// WebhookSecretPurpose is the purpose under which the vault seals the secrets that sign deliveries.
const WebhookSecretPurpose = "webhook_secret"

// WebhooksPerOrganization is how many endpoints an organization has at most.
const WebhooksPerOrganization = 10

// MaxSecretOverlap bounds the time in which a rotated secret still signs beside the new one.
const MaxSecretOverlap = 7 * 24 * time.Hour

// Bounds of what is written about an endpoint.
const (
	maxWebhookURL  = 2000 // bytes
	maxWebhookText = 200  // characters
)

// WebhookCommand acts on one endpoint of an organization's own system.
//
//sumtype:decl
type WebhookCommand interface {
	Command
	webhookCommand()
}

// WebhookSettings are those of an endpoint that its organization chooses.
type WebhookSettings struct {
	URL         string
	Types       []string // of messages; their order has no meaning
	Description string
}

// RegisterWebhook makes an endpoint, at one of the organization's places. The vault has the secret already. Fails:
// webhook_place_taken.
type RegisterWebhook struct {
	WebhookID id.Webhook
	OrgID     id.Organization
	Place     int // from 1 to WebhooksPerOrganization
	Settings  WebhookSettings
	SecretRef id.Secret
}

// AmendWebhook replaces the settings. Equal ones change nothing. Fails: webhook_not_found.
type AmendWebhook struct {
	WebhookID id.Webhook
	Settings  WebhookSettings
}

// RotateWebhookSecret signs with another secret, and until an instant with the present one, too. The vault has the new
// one already. Fails: webhook_not_found.
type RotateWebhookSecret struct {
	WebhookID id.Webhook
	SecretRef id.Secret
	Overlap   time.Duration // 0 = the present one ends at once
}

// EnableWebhook has the endpoint get again what happens. Fails: webhook_not_found.
type EnableWebhook struct{ WebhookID id.Webhook }

// DisableWebhook has the endpoint get nothing any more. Fails: webhook_not_found.
type DisableWebhook struct {
	WebhookID id.Webhook
	Reason    string    // events.WebhookOffAsked or events.WebhookOffFailing
	Since     time.Time // of a failing one: its first failure
	Failed    int       // deliveries since then
	// Enabled is the last instant at which the endpoint was enabled, as the one who counted the failures knew it. When
	// it was enabled again since, they say nothing about it any more. Zero for a person's wish.
	Enabled time.Time
}

// PingWebhook notes that a person tries the endpoint. Fails: webhook_not_found.
type PingWebhook struct {
	WebhookID  id.Webhook
	DeliveryID id.Delivery
}

// RedeliverWebhook notes that a person wants a message once more. Fails: webhook_not_found, webhook_disabled.
type RedeliverWebhook struct {
	WebhookID  id.Webhook
	DeliveryID id.Delivery
}

// RemoveWebhook ends the endpoint. Fails: webhook_not_found.
type RemoveWebhook struct{ WebhookID id.Webhook }

func (RegisterWebhook) CommandName() string     { return "webhooks.RegisterWebhook" }
func (AmendWebhook) CommandName() string        { return "webhooks.AmendWebhook" }
func (RotateWebhookSecret) CommandName() string { return "webhooks.RotateWebhookSecret" }
func (EnableWebhook) CommandName() string       { return "webhooks.EnableWebhook" }
func (DisableWebhook) CommandName() string      { return "webhooks.DisableWebhook" }
func (PingWebhook) CommandName() string         { return "webhooks.PingWebhook" }
func (RedeliverWebhook) CommandName() string    { return "webhooks.RedeliverWebhook" }
func (RemoveWebhook) CommandName() string       { return "webhooks.RemoveWebhook" }

func (c RegisterWebhook) Target() Target     { return At(WebhookCategory, c.WebhookID) }
func (c AmendWebhook) Target() Target        { return At(WebhookCategory, c.WebhookID) }
func (c RotateWebhookSecret) Target() Target { return At(WebhookCategory, c.WebhookID) }
func (c EnableWebhook) Target() Target       { return At(WebhookCategory, c.WebhookID) }
func (c DisableWebhook) Target() Target      { return At(WebhookCategory, c.WebhookID) }
func (c PingWebhook) Target() Target         { return At(WebhookCategory, c.WebhookID) }
func (c RedeliverWebhook) Target() Target    { return At(WebhookCategory, c.WebhookID) }
func (c RemoveWebhook) Target() Target       { return At(WebhookCategory, c.WebhookID) }

func (RegisterWebhook) webhookCommand()     {}
func (AmendWebhook) webhookCommand()        {}
func (RotateWebhookSecret) webhookCommand() {}
func (EnableWebhook) webhookCommand()       {}
func (DisableWebhook) webhookCommand()      {}
func (PingWebhook) webhookCommand()         {}
func (RedeliverWebhook) webhookCommand()    {}
func (RemoveWebhook) webhookCommand()       {}

// Validate checks form.
func (c RegisterWebhook) Validate() error {
	var f failure.Faults
	f.Check(!c.OrgID.IsZero(), "orgId", "is required")
	f.Check(c.Place >= 1 && c.Place <= WebhooksPerOrganization, "place", "is unknown")
	f.Check(!c.SecretRef.IsZero(), "secret", "is required")
	c.Settings.check(&f)
	return f.Err()
}

// Validate checks form.
func (c AmendWebhook) Validate() error {
	var f failure.Faults
	c.Settings.check(&f)
	return f.Err()
}

// Validate checks form.
func (c RotateWebhookSecret) Validate() error {
	var f failure.Faults
	f.Check(!c.SecretRef.IsZero(), "secret", "is required")
	f.Check(c.Overlap >= 0 && c.Overlap <= MaxSecretOverlap, "overlapHours", "must be a whole number from 0 to 168")
	return f.Err()
}

// Validate checks form.
func (c DisableWebhook) Validate() error {
	var f failure.Faults
	f.Check(c.Reason == events.WebhookOffAsked || c.Reason == events.WebhookOffFailing, "reason", "is unknown")
	return f.Err()
}

// Validate checks form.
func (c PingWebhook) Validate() error { return checkDelivery(c.DeliveryID) }

// Validate checks form.
func (c RedeliverWebhook) Validate() error { return checkDelivery(c.DeliveryID) }

// Validate has nothing to check: the id names the stream.
func (EnableWebhook) Validate() error { return nil }

// Validate has nothing to check: the id names the stream.
func (RemoveWebhook) Validate() error { return nil }

// checkDelivery requires the id of a delivery.
func checkDelivery(which id.Delivery) error {
	var f failure.Faults
	f.Check(!which.IsZero(), "deliveryId", "is required")
	return f.Err()
}

// check finds faults of form. Whether the platform calls an address is decided elsewhere, since it depends on the
// installation.
func (s WebhookSettings) check(f *failure.Faults) {
	f.Check(s.URL != "", "url", "is required")
	f.Check(s.URL == "" || webhookAddress(s.URL), "url", "must be a plain http or https address")
	f.Check(len(s.URL) <= maxWebhookURL, "url", "must have at most 2000 bytes")
	f.Check(len(s.Types) > 0, "types", "must have one type at least")
	known := events.OutboxTypes()
	seen := map[string]bool{}
	for _, name := range s.Types {
		f.Check(slices.Contains(known, name), "types", "must be types that exist: %s", strings.Join(known, ", "))
		f.Check(!seen[name], "types", "must have each type once")
		if seen[name] || !slices.Contains(known, name) {
			break // one fault is enough
		}
		seen[name] = true
	}
	checkLine(f, "description", s.Description)
	f.Check(utf8.RuneCountInString(s.Description) <= maxWebhookText, "description",
		"must have at most 200 characters")
}

// webhookAddress reports whether a text is an address to which a POST can go, without a password in it.
func webhookAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil &&
		u.Fragment == "" && u.Opaque == "" &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// ErrNoWebhook is the failure for an endpoint that does not exist, was removed, or belongs to another organization.
func ErrNoWebhook() error {
	return failure.NewNotFound("webhook_not_found", "There is no such webhook endpoint.")
}

// ErrNoDelivery is the failure for a delivery that does not exist, is not kept any more, or belongs to another
// organization.
func ErrNoDelivery() error {
	return failure.NewNotFound("delivery_not_found", "There is no such webhook delivery.")
}
