package messagingviews

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// MessageRow is one message to a customer.
type MessageRow struct {
	ID             id.Message       `db:"message_id"`
	SubscriberID   id.Subscriber    `db:"subscriber_id"`
	SubscriptionID *id.Subscription `db:"subscription_id"`
	At             time.Time        `db:"at"` // when it was asked for
	Template       string           `db:"template"`
	Channel        *string          `db:"channel"` // nil = it has no address yet
	To             *string          `db:"address"` // nil = it has none yet, or the person was forgotten
	State          string           `db:"state"`   // one of MessageStates
	Code           string           `db:"code"`    // why it was not sent, or not delivered
	Cost           *string          `db:"cost"`    // in the provider's words; nil = not known
	Back           *string          `db:"back"`    // why it took the way back from WhatsApp; nil = it did not
	StateAt        time.Time        `db:"state_at"`
}

// MessageStates are the values of MessageRow.State, from the first one to the last ones.
func MessageStates() []string {
	return []string{"queued", "sending", "sent", "delivered", "undelivered", "in_doubt", "failed", "dropped"}
}

// MessageKey is a row's place in the list, newest first. The zero value starts at the newest row.
type MessageKey struct {
	At time.Time  `json:"a"`
	ID id.Message `json:"i"`
}

// Key makes the next page begin after this row.
func (r MessageRow) Key() MessageKey { return MessageKey{At: r.At, ID: r.ID} }

// MessageFilter narrows a list. A zero field does not restrict it; several fields must all fit.
type MessageFilter struct {
	Channel    string
	State      string
	Template   string
	Subscriber id.Subscriber
	Outage     id.Outage // that they tell of
	From, To   time.Time // asked for in this time; To is not in it
}

// MessagesQuery serves an organization's messages.
type MessagesQuery struct{ Views *runner.Views }

// List returns up to max messages of an organization after a key, newest first.
func (q MessagesQuery) List(
	ctx context.Context, org id.Organization, f MessageFilter, after MessageKey, max int,
) ([]MessageRow, error) {
	var rows []MessageRow
	err := q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &rows, pgx.RowToStructByName[MessageRow], q.Views.SQL(MessagesName, `
			select message_id, subscriber_id, subscription_id, at, template, channel, address, state, code, cost,
				back, state_at
			from {schema}.messages
			where org_id = @org and (@channel = '' or channel = @channel) and (@state = '' or state = @state)
				and (@template = '' or template = @template)
				and (@subscriber::uuid is null or subscriber_id = @subscriber)
				and (@outage::uuid is null or outage_id = @outage)
				and (@from::timestamptz is null or at >= @from) and (@to::timestamptz is null or at < @to)
				and (@at::timestamptz is null or (at, message_id) < (@at, @id))
			order by at desc, message_id desc limit @max`), pgx.NamedArgs{
			"org": org, "channel": f.Channel, "state": f.State, "subscriber": f.Subscriber,
			"template": f.Template, "outage": f.Outage, "from": null.Time(f.From), "to": null.Time(f.To),
			"at": null.Time(after.At), "id": after.ID, "max": max,
		})
	})
	return rows, err
}

// ByReference finds the message, of any organization, about which the provider reports under a reference. It is false
// when there is none, and when a provider has used the reference twice.
func (q MessagesQuery) ByReference(ctx context.Context, reference string) (which id.Message, found bool, err error) {
	var list []id.Message
	err = q.Views.Platform(ctx, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowTo[id.Message], q.Views.SQL(MessagesName,
			`select message_id from {schema}.messages where reference = $1 limit 2`), reference)
	})
	if err != nil || len(list) != 1 {
		return id.Message{}, false, err
	}
	return list[0], true, nil
}

// FailedSince counts the messages of an organization that were asked for since an instant and could not be sent.
func (q MessagesQuery) FailedSince(ctx context.Context, org id.Organization, since time.Time) (n int, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.CollectOne(r, &n, pgx.RowTo[int], q.Views.SQL(MessagesName, `select count(*)::int
			from {schema}.messages
			where org_id = $1 and at >= $2 and state in ('failed', 'undelivered', 'in_doubt')`), org, since)
	})
	return n, err
}

// ToldCount is a number of messages about an outage.
type ToldCount struct {
	Template string `db:"template"`
	State    string `db:"state"`
	Count    int    `db:"count"`
}

// Told counts the messages about an outage of the network, by what they say and what became of them.
func (q MessagesQuery) Told(ctx context.Context, org id.Organization, outage id.Outage) (list []ToldCount, err error) {
	err = q.Views.Tenant(ctx, org, func(r *postgres.Reads) {
		postgres.Collect(r, &list, pgx.RowToStructByName[ToldCount], q.Views.SQL(MessagesName, `
			select template, state, count(*)::int as count from {schema}.messages
			where org_id = $1 and outage_id = $2 group by template, state order by template, state`), org, outage)
	})
	return list, err
}
