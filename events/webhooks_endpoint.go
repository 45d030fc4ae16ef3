package events

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// WebhookEvent is an event of "webhook-<id>": an endpoint of an organization's own system, which is told of what
// happens. Deliveries are operational rows and no events (ADR 0030). Source: docs/rules/webhooks.md#webhook-endpoints.
//
//sumtype:decl
type WebhookEvent interface {
	Event
	webhookEvent()
}

// Reasons for which an endpoint gets nothing.
const (
	WebhookOffAsked   = "asked"   // a person wants it
	WebhookOffFailing = "failing" // nothing could be delivered for days
)

// WebhookRegistered records a new endpoint. It gets what happens after this event.
type WebhookRegistered struct {
	WebhookID   id.Webhook      `json:"webhookId"`
	OrgID       id.Organization `json:"orgId"`
	Place       int             `json:"place"` // among the organization's endpoints, from 1: each has one
	URL         string          `json:"url"`
	Types       []string        `json:"types"` // of messages
	Description string          `json:"description,omitempty"`
	SecretRef   id.Secret       `json:"secretRef"` // in the vault
	At          time.Time       `json:"at"`
}

// WebhookAmended records what holds of an endpoint from now on. What happened before goes out by what held then, but
// always to the present address.
type WebhookAmended struct {
	WebhookID   id.Webhook      `json:"webhookId"`
	OrgID       id.Organization `json:"orgId"`
	URL         string          `json:"url"`
	Types       []string        `json:"types"`
	Description string          `json:"description,omitempty"`
	At          time.Time       `json:"at"`
}

// WebhookSecretRotated records that deliveries are signed with another secret, and until an instant with the former
// one, too.
type WebhookSecretRotated struct {
	WebhookID   id.Webhook      `json:"webhookId"`
	OrgID       id.Organization `json:"orgId"`
	SecretRef   id.Secret       `json:"secretRef"`
	FormerRef   id.Secret       `json:"formerRef"`
	FormerUntil time.Time       `json:"formerUntil"`       // not after At: it is of no use any more
	EndedRef    id.Secret       `json:"endedRef,omitzero"` // the secret before the former one, when it was still used
	At          time.Time       `json:"at"`
}

// WebhookEnabled records that the endpoint gets again what happens from now on. What happened meanwhile is not sent.
type WebhookEnabled struct {
	WebhookID id.Webhook      `json:"webhookId"`
	OrgID     id.Organization `json:"orgId"`
	At        time.Time       `json:"at"`
}

// WebhookDisabled records that the endpoint gets nothing any more. Deliveries that wait end as failed.
type WebhookDisabled struct {
	WebhookID id.Webhook      `json:"webhookId"`
	OrgID     id.Organization `json:"orgId"`
	Reason    string          `json:"reason"`           // WebhookOffAsked or WebhookOffFailing
	Since     time.Time       `json:"since,omitzero"`   // the first failure after the last success, when it fails
	Failed    int             `json:"failed,omitempty"` // deliveries that failed since then
	At        time.Time       `json:"at"`
}

// WebhookPinged records that a person asked for a message that only tries the endpoint.
type WebhookPinged struct {
	WebhookID  id.Webhook      `json:"webhookId"`
	OrgID      id.Organization `json:"orgId"`
	DeliveryID id.Delivery     `json:"deliveryId"`
	At         time.Time       `json:"at"`
}

// WebhookRedeliveryAsked records that a person asked for a message once more.
type WebhookRedeliveryAsked struct {
	WebhookID  id.Webhook      `json:"webhookId"`
	OrgID      id.Organization `json:"orgId"`
	DeliveryID id.Delivery     `json:"deliveryId"`
	At         time.Time       `json:"at"`
}

// WebhookRemoved records the end of an endpoint. Its secrets are deleted.
type WebhookRemoved struct {
	WebhookID id.Webhook      `json:"webhookId"`
	OrgID     id.Organization `json:"orgId"`
	SecretRef id.Secret       `json:"secretRef"`
	FormerRef id.Secret       `json:"formerRef,omitzero"` // when it was still used
	At        time.Time       `json:"at"`
}

// WebhookPeriodClosed passes the state to the stream's next period (docs/rules/engine.md#closing-a-period).
type WebhookPeriodClosed struct {
	WebhookID id.Webhook `json:"webhookId"`
	Opening   []byte     `json:"opening"` // JSON of the aggregate's state
}

func (WebhookRegistered) EventType() string      { return "webhooks.WebhookRegistered.v1" }
func (WebhookAmended) EventType() string         { return "webhooks.WebhookAmended.v1" }
func (WebhookSecretRotated) EventType() string   { return "webhooks.WebhookSecretRotated.v1" }
func (WebhookEnabled) EventType() string         { return "webhooks.WebhookEnabled.v1" }
func (WebhookDisabled) EventType() string        { return "webhooks.WebhookDisabled.v1" }
func (WebhookPinged) EventType() string          { return "webhooks.WebhookPinged.v1" }
func (WebhookRedeliveryAsked) EventType() string { return "webhooks.WebhookRedeliveryAsked.v1" }
func (WebhookRemoved) EventType() string         { return "webhooks.WebhookRemoved.v1" }
func (WebhookPeriodClosed) EventType() string    { return "webhooks.WebhookPeriodClosed.v1" }

func (WebhookRegistered) webhookEvent()      {}
func (WebhookAmended) webhookEvent()         {}
func (WebhookSecretRotated) webhookEvent()   {}
func (WebhookEnabled) webhookEvent()         {}
func (WebhookDisabled) webhookEvent()        {}
func (WebhookPinged) webhookEvent()          {}
func (WebhookRedeliveryAsked) webhookEvent() {}
func (WebhookRemoved) webhookEvent()         {}
func (WebhookPeriodClosed) webhookEvent()    {}
