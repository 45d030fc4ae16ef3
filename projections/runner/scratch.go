package runner

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/eventstore/feed"
	"github.com/lastmile-isp/lastmile/internal/postgres"
)

// Scratch is a set of tables without a checkpoint that the caller fills. Verification and tests compare its rows.
type Scratch struct {
	r *Runner
	p Projection
	g *generation
}

// NewScratch creates empty tables in a schema that ends in name, after dropping those of an earlier use.
func NewScratch(ctx context.Context, db *postgres.DB, p Projection, name string) (*Scratch, error) {
	r := &Runner{cfg: Config{DB: db}, logger: slog.New(slog.DiscardHandler)}
	s := &Scratch{r: r, p: p, g: &generation{
		Name: p.Name(), Version: p.Version(), Schema: r.schemaPrefix(p.Name()) + name, State: genBuilding,
		known: statements{},
	}}
	if err := s.Drop(ctx); err != nil {
		return nil, err
	}
	err := pgx.BeginFunc(ctx, db.Owner, func(tx pgx.Tx) error { return createTables(ctx, tx, p, s.g.Schema) })
	if err != nil {
		return nil, fmt.Errorf("create scratch tables of %s: %w", p.Name(), err)
	}
	return s, nil
}

// Schema names the schema that holds the tables.
func (s *Scratch) Schema() string { return s.g.Schema }

// SQL replaces {schema} by the schema of these tables.
func (s *Scratch) SQL(text string) string { return strings.ReplaceAll(text, schemaMark, s.g.Schema) }

// Apply applies events in one transaction. It has no checkpoint: the same events can be applied again.
func (s *Scratch) Apply(ctx context.Context, list []events.Envelope) error {
	page := feed.Page{Events: make([]*events.Envelope, len(list))}
	s.g.Position = 0
	for i := range list {
		page.Events[i], page.UpTo = &list[i], max(page.UpTo, list[i].Position)
	}
	return s.r.apply(ctx, s.p, s.g, page)
}

// Unmerged is why rows are not merged into one statement any more, as they should be; nil = they are.
func (s *Scratch) Unmerged() error { return s.g.apart }

// Drop removes the tables; it succeeds when they are gone already.
func (s *Scratch) Drop(ctx context.Context) error {
	if _, err := s.r.cfg.DB.Owner.Exec(ctx, "drop schema if exists "+s.g.Schema+" cascade"); err != nil {
		return fmt.Errorf("drop scratch tables of %s: %w", s.p.Name(), err)
	}
	return nil
}
