// Package telemetry keeps what routers report about customers' sessions: operational tables that are neither events nor
// read models (docs/rules/engine.md#vault), because there is a report for each session every few minutes and the
// business decides on few of them. It lives in a schema of its own, whose tables are under row-level security.
//
// # What is promised
//
//   - A report that was acknowledged is not lost when the program is killed: it is in the database, or in a file of
//     the spool that was written through to the disk.
//   - Sessions and usage do not depend on the order in which reports come, nor on how often one comes, as long as a
//     report is not later than eight newer ones of its session.
//   - Reports are written in groups. While one group is being committed the next one gathers, so that many reports
//     share the cost of one commit.
package telemetry

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// part is the name of the schema within the installation's namespace.
const part = "telemetry"

// migrations are goose files; {schema} in them stands for the schema of telemetry.
//
//go:embed migrations
var migrations embed.FS

// protected are the tables that tenants read. All have a column org_id.
var protected = []string{"sessions", "routers", "usage", "refusals", "looks", "heard", "addresses", "tries"}

// Store reads and writes the tables. Safe for concurrent use.
type Store struct {
	db     *postgres.DB
	schema string
	sql    statements
	crowds *crowds
	// endSize is how many sessions end in one transaction without a report; tests have less.
	endSize int
	told    func([]Turn) // nil = nobody

	tidying sync.Mutex
	tidied  time.Time // until when no ended session without a customer is left; zero = not known
}

// Open migrates the schema and opens it.
func Open(ctx context.Context, db *postgres.DB) (*Store, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, fmt.Errorf("open telemetry: %w", err)
	}
	if err := db.Migrate(ctx, part, files); err != nil {
		return nil, err
	}
	s := &Store{db: db, schema: db.Namespace.Schema(part), crowds: newCrowds(), endSize: endSize}
	for _, table := range protected {
		if err := db.ProtectTable(ctx, s.schema, table); err != nil {
			return nil, err
		}
	}
	s.sql = statements{
		open: s.text(countOpenSQL),
		lock: lockSQL, named: strings.ReplaceAll(s.text(namedSQL), "{most}", strconv.Itoa(mostNamed)),
		near: s.text(nearSQL), newest: s.text(newestSQL),
		restarted: s.text(restartedSQL),
		begun:     s.text(beginSQL), whole: s.text(saveWholeSQL), counts: s.text(saveCountsSQL),
		restart: s.text(saveRestartsSQL), close: s.text(closeRestartedSQL), ended: s.text(endedSQL),
		usage: s.text(saveUsageSQL), heard: s.text(saveHeardSQL),
	}
	return s, nil
}

// statements are those that run for every group, with the schema's name in place.
type statements struct {
	lock, named, near, newest, restarted, open, begun, whole, counts, restart, close, ended, usage, heard string
}

// text puts the schema's name into a statement in place of {schema}.
func (s *Store) text(sql string) string { return strings.ReplaceAll(sql, "{schema}", s.schema) }
