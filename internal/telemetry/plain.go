package telemetry

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// errTaken takes back what was written to find out whether it would be taken.
var errTaken = errors.New("the tables take plain reports")

// takesPlain fails when the tables would not take plain reports in place of one either, of the same organization and
// customer: sessions that begin, go on, change and end with their router. Nothing of them stays.
func (s *Store) takesPlain(ctx context.Context, d Directory, report Report) error {
	given := d.Resolve(report)
	given.Forgotten = false // else nothing would be written
	d.Resolve = func(Report) Given { return given }
	apart := &Store{db: s.db, schema: s.schema, sql: s.sql, endSize: s.endSize, crowds: newCrowds()}
	err := postgres.Transaction(ctx, s.db.Owner, func(tx pgx.Tx) error {
		now := newBook(d, apart.crowds).now().UTC().Truncate(time.Second)
		for _, group := range plain(report.Org, now) {
			b := newBook(d, apart.crowds)
			b.comes(now, group)
			var used []Used
			if _, err := apart.fold(ctx, tx, b, group, &used); err != nil {
				return fmt.Errorf("plain report: %w", err)
			}
		}
		return errTaken
	})
	if errors.Is(err, errTaken) {
		return nil
	}
	return err
}

// plain are two groups of reports of a router that does not exist, which do to the tables all that reports do: the
// first one begins sessions, of the second one each report changes other columns.
func plain(org id.Organization, now time.Time) [2][]Report {
	goesOn := Report{Kind: Start, Org: org, Device: id.New[id.Device](), Session: "a", User: "a"}
	goesOn.At = now.Add(-time.Minute)
	changes, ends := goesOn, goesOn
	changes.Session, changes.User = "b", "b"
	ends.Session, ends.User = "c", "c"
	begin := []Report{goesOn, changes, ends}
	goesOn.Kind, goesOn.At, goesOn.Online, goesOn.Down, goesOn.Up = Interim, now, time.Minute, 1, 1
	changes.Kind, changes.Called = Interim, "b"
	ends.Kind, ends.At = On, now
	return [2][]Report{begin, {goesOn, changes, ends}}
}
