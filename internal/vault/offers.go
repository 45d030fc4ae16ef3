package vault

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
)

// Offers remembers which messages are being handed to a gateway. A program that stops in between leaves the offer, so
// that nobody hands the message over a second time. Safe for concurrent use.
type Offers struct{ core *core }

// Offer is a message that is being handed over.
type Offer struct {
	Before    bool   `db:"before"` // it was begun by an earlier try
	Taken     bool   `db:"taken"`  // the gateway took it
	Reference string `db:"reference"`
	Cost      string `db:"cost"`
}

// OffersKept is how long an offer is kept that nobody has ended.
const OffersKept = 30 * 24 * time.Hour

// SQL of offers.
const (
	beginOfferSQL = `
insert into {schema}.offers (message_id, began_at) values ($1, $2)
on conflict (message_id) do update set began_at = offers.began_at
returning xmax <> 0 as before, taken, reference, cost` // xmax is 0 in a row that is new
	tookOfferSQL  = `update {schema}.offers set taken = true, reference = $2, cost = $3 where message_id = $1`
	endOfferSQL   = `delete from {schema}.offers where message_id = $1`
	purgeOfferSQL = `delete from {schema}.offers where began_at < $1`
)

// Begin notes that a message is about to be handed over. The offer says when somebody has begun before and nobody has
// ended it.
func (o *Offers) Begin(ctx context.Context, message id.Message) (Offer, error) {
	rows, _ := o.core.db.Owner.Query(ctx, o.core.sql(beginOfferSQL), message, o.core.clock.Now())
	found, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Offer])
	if err != nil {
		return Offer{}, fmt.Errorf("begin offer: %w", err)
	}
	return found, nil
}

// Took notes that the gateway took the message, and under which reference it reports about it.
func (o *Offers) Took(ctx context.Context, message id.Message, reference, cost string) error {
	if _, err := o.core.db.Owner.Exec(ctx, o.core.sql(tookOfferSQL), message, reference, cost); err != nil {
		return fmt.Errorf("note taken offer: %w", err)
	}
	return nil
}

// End forgets an offer: the message certainly was not taken, or its end is recorded.
func (o *Offers) End(ctx context.Context, message id.Message) error {
	if _, err := o.core.db.Owner.Exec(ctx, o.core.sql(endOfferSQL), message); err != nil {
		return fmt.Errorf("end offer: %w", err)
	}
	return nil
}

// Purge removes what nobody has ended for a long time.
func (o *Offers) Purge(ctx context.Context) error {
	_, err := o.core.db.Owner.Exec(ctx, o.core.sql(purgeOfferSQL), o.core.clock.Now().Add(-OffersKept))
	if err != nil {
		return fmt.Errorf("remove old offers: %w", err)
	}
	return nil
}
