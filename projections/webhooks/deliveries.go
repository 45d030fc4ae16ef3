package webhooksviews

import (
	"time"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// States of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Failed    = "failed"
)

// DeliveryStates lists the words by which deliveries can be chosen.
var DeliveryStates = []string{Pending, Delivered, Failed}

// Attempt is one call of an endpoint.
type Attempt struct {
	At         time.Time `json:"at"`
	Status     *int      `json:"status"` // of the answer; nil = there was none
	Error      string    `json:"error"`  // a code; "" = it succeeded
	DurationMs int64     `json:"durationMs"`
}

// DeliveryRow is one message on its way to one endpoint, over all attempts. It is operational, not a read model: see
// ADR 0030.
type DeliveryRow struct {
	ID        id.Delivery     `db:"delivery_id"`
	OrgID     id.Organization `db:"org_id"`
	WebhookID id.Webhook      `db:"webhook_id"`
	MessageID id.Any          `db:"message_id"`
	Type      string          `db:"type"`
	Position  int64           `db:"position"` // of the message in the log; 0 for a ping
	Body      string          `db:"body"`     // the envelope, as it is sent
	State     string          `db:"state"`
	Error     string          `db:"error"` // why it ended, when no attempt says so; "" = an attempt does
	Attempts  []Attempt       `db:"attempts"`
	Tries     int             `db:"tries"` // attempts, also those that are not kept
	NextAt    *time.Time      `db:"next_at"`
	CreatedAt time.Time       `db:"created_at"`
	EndedAt   *time.Time      `db:"ended_at"`
}

// DeliveryKey is a row's place in the list, newest first. The zero value starts at the newest row.
type DeliveryKey struct {
	CreatedAt time.Time   `json:"c"`
	ID        id.Delivery `json:"i"`
}

// Key makes the next page begin after this row.
func (r DeliveryRow) Key() DeliveryKey { return DeliveryKey{CreatedAt: r.CreatedAt, ID: r.ID} }

// DeliveryFilter narrows a list. A zero field does not restrict it.
type DeliveryFilter struct {
	Webhook id.Webhook
	State   string
}

// DeliveryOf is the id of the delivery of a message to an endpoint: it is made once, however often it is tried.
func DeliveryOf(webhook id.Webhook, message id.Any) id.Delivery {
	return id.Derive[id.Delivery]("webhook delivery", webhook.String(), message.String())
}
