package vault_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vault"
)

// BenchmarkVault prints the rates of the vault's work for a request or a callback, each as a share of the rate at which
// as many writers commit one small row.
func BenchmarkVault(b *testing.B) {
	db := pgtest.New(b)
	ring, err := secrets.New(key(1))
	if err != nil {
		b.Fatal(err)
	}
	v, err := vault.Open(b.Context(), vault.Config{DB: db, Keyring: ring, Clock: clock.System()})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := db.Owner.Exec(b.Context(),
		replaceSchema(db, "create table {schema}.bare (id uuid primary key, body bytea)")); err != nil {
		b.Fatal(err)
	}
	insert, body := replaceSchema(db, "insert into {schema}.bare values ($1, $2)"), make([]byte, 600)
	var bare float64
	for _, c := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"bare", func(ctx context.Context) error {
			_, err := db.Owner.Exec(ctx, insert, uuid.New(), body)
			return err
		}},
		{"inbox_store", func(ctx context.Context) error {
			_, err := v.Inbox.Store(ctx, vault.Callback{Kind: "stk", Body: body})
			return err
		}},
		{"idempotency", func(ctx context.Context) error {
			m, err := v.Idempotency.Begin(ctx, scope(uuid.NewString()), body)
			if err != nil {
				return err
			}
			return v.Idempotency.Complete(ctx, m, vault.Answer{Status: 200, Body: body})
		}},
		{"limit", func(ctx context.Context) error {
			_, _, err := v.Limits.Allow(ctx, uuid.NewString()[:2], 300, time.Minute)
			return err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := c.do(b.Context()); err != nil {
						b.Error(err)
					}
				}
			})
			took := float64(b.Elapsed()) / float64(b.N)
			if c.name == "bare" {
				bare = took
				return
			}
			b.ReportMetric(bare/took, "ratio")
			b.Logf("ratio %.2f, no aim", bare/took)
		})
	}
}
