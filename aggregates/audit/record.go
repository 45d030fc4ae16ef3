// Package audit has the rules of records that only the audit log uses.
package audit

import (
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Record keeps of a record only what a decision needs; all else stays in its event. The zero value is "does not exist".
type Record[I comparable] struct {
	ID    I
	OrgID id.Organization // that was asked, or whose host a request was sent to; zero on the root host
}

// records defines records that the audit log shows and on which no rule depends. Each is written once: a repeated
// command gives no event. write makes the event of a command.
func records[I comparable, C commands.Command, E events.Event](
	category string, evolve func(Record[I], E) Record[I], write func(C, time.Time) []E, written ...C,
) aggregates.Definition[Record[I], C, E] {
	return aggregates.Definition[Record[I], C, E]{
		Category: category, Missing: commands.ErrNotFound, Evolve: evolve,
		Decide: func(s Record[I], c C, now time.Time) ([]E, error) {
			if s != (Record[I]{}) {
				return nil, nil
			}
			return write(c, now), nil
		},
		Owner:    func(s Record[I]) id.Organization { return s.OrgID },
		Commands: written,
	}
}
