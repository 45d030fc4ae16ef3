package accesscases

import (
	"context"
	"net/netip"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Lookups records questions who had an address. Safe for concurrent use.
type Lookups struct{ Bus *bus.Bus }

// Lookup is a question, with the answer that is going to be given.
type Lookup struct {
	Address netip.Addr
	HadAt   time.Time
	Holders []id.Subscriber // each once; empty = nobody that is known
}

// Record records the question, once for each customer in the answer. Whoever gets an error must not answer.
func (l Lookups) Record(ctx context.Context, asked usecases.Asked, q Lookup) error {
	holders := q.Holders
	if len(holders) == 0 {
		holders = []id.Subscriber{{}}
	}
	for _, holder := range holders {
		meta := asked.Step("looked up " + holder.String())
		if _, err := l.Bus.Execute(ctx, commands.LookUpAddress{
			LookupID: id.Derive[id.Lookup]("lookup", meta.CommandID.String()), OrgID: asked.Org(),
			SubscriberID: holder, Address: personal.Of(q.Address.String()), HadAt: q.HadAt,
		}, meta); err != nil {
			return err
		}
	}
	return nil
}
