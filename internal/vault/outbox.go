package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Outbox keeps the messages that would have been sent while no gateway is set, so that development can read them. It
// holds addresses and texts in the clear: production keeps none. Safe for concurrent use.
type Outbox struct {
	core *core
}

// OutboxMessage is one kept message.
type OutboxMessage struct {
	ID         id.Message      `db:"id"`
	Org        id.Organization `db:"org_id"`        // zero = of the platform
	Subscriber id.Subscriber   `db:"subscriber_id"` // zero = to somebody who is no customer
	At         time.Time       `db:"at"`
	Channel    string          `db:"channel"` // "sms" or "email"
	To         string          `db:"address"`
	Template   string          `db:"template"`
	Subject    string          `db:"subject"` // "" for "sms"
	Text       string          `db:"body"`
}

// OutboxKept is how long messages are kept.
const OutboxKept = 90 * 24 * time.Hour

// SQL of the outbox. A zero id is null in the table, and null is a zero id again.
const (
	putOutboxSQL = `
insert into {schema}.outbox (id, org_id, subscriber_id, at, channel, address, template, subject, body)
values (@id, @org, @subscriber, @at, @channel, @to, @template, @subject, @text) on conflict (id) do nothing`
	listOutboxSQL = `
select id, org_id, subscriber_id, at, channel, address, template, subject, body from {schema}.outbox
where ($1::uuid is null or org_id = $1) and ($2 = '' or address in ($2, '+' || $2)) order by at desc, id desc limit $3`
	forgetOutboxSQL = `delete from {schema}.outbox where subscriber_id = $1`
	// messages to somebody who signs in name no customer
	forgetAddressesSQL = `
delete from {schema}.outbox where subscriber_id is null
	and (org_id = $1 and address = any($2) or org_id is null and address = any($3))`
	// A code to an address that was only wished for names no user, so it goes with its wish.
	purgeOutboxSQL = `
delete from {schema}.outbox where at < $1 or subscriber_id is null and template = 'address_code' and at < $2`
)

// Put keeps a message. One with the same id is kept once.
func (o *Outbox) Put(ctx context.Context, m OutboxMessage) error {
	_, err := o.core.db.Owner.Exec(ctx, o.core.sql(putOutboxSQL), pgx.NamedArgs{
		"id": m.ID, "org": m.Org, "subscriber": m.Subscriber, "at": m.At, "channel": m.Channel, "to": m.To,
		"template": m.Template, "subject": m.Subject, "text": m.Text,
	})
	if err != nil {
		return fmt.Errorf("keep message: %w", err)
	}
	return nil
}

// List gives up to max messages, newest first: those of one organization, or all for a zero id. A to that is not empty
// chooses one address; the + of a phone number may be missing, because it is easily lost in an address bar.
func (o *Outbox) List(ctx context.Context, org id.Organization, to string, max int) ([]OutboxMessage, error) {
	rows, _ := o.core.db.Owner.Query(ctx, o.core.sql(listOutboxSQL), org, to, max)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[OutboxMessage])
	if err != nil {
		return nil, fmt.Errorf("list kept messages: %w", err)
	}
	return list, nil
}

// Forget removes the messages to a customer.
func (o *Outbox) Forget(ctx context.Context, subscriber id.Subscriber) error {
	if _, err := o.core.db.Owner.Exec(ctx, o.core.sql(forgetOutboxSQL), subscriber); err != nil {
		return fmt.Errorf("forget messages: %w", err)
	}
	return nil
}

// ForgetAddresses removes the messages to some addresses that name no customer, codes for signing in: those from an
// organization to the one list, and those from the root host to the other.
func (o *Outbox) ForgetAddresses(ctx context.Context, org id.Organization, own, shared []string) error {
	if _, err := o.core.db.Owner.Exec(ctx, o.core.sql(forgetAddressesSQL), org, own, shared); err != nil {
		return fmt.Errorf("forget messages: %w", err)
	}
	return nil
}

// Purge removes the messages that were kept long enough.
func (o *Outbox) Purge(ctx context.Context) error {
	now := o.core.clock.Now()
	_, err := o.core.db.Owner.Exec(ctx, o.core.sql(purgeOutboxSQL), now.Add(-OutboxKept), now.Add(-codesKept))
	if err != nil {
		return fmt.Errorf("remove old messages: %w", err)
	}
	return nil
}
