package main

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestBackup_TheProgramServesMeanwhile: a dump holds all tables until its end, so that nobody may empty or change one.
func TestBackup_TheProgramServesMeanwhile(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	k.paybillReady()
	err := pgx.BeginFunc(t.Context(), k.db.Owner, func(dump pgx.Tx) error {
		var tables string
		if err := dump.QueryRow(t.Context(), `select string_agg(format('%I.%I', schemaname, tablename), ', ')
			from pg_tables where starts_with(schemaname, $1)`, string(k.db.Namespace)+"_").Scan(&tables); err != nil {
			return err
		}
		if _, err := dump.Exec(t.Context(), "lock table "+tables+" in access share mode"); err != nil {
			return err
		}
		customer, account := k.subscriber("254711000811")
		k.moneyIs(k.pay("254711000811", account, 900), customer, "attributed")
		k.eventually("two attempts to write", func(ctx context.Context) (enough bool, err error) {
			err = dump.QueryRow(ctx, `select count(*) > 2 from `+k.db.Namespace.Schema("probe")+`.write_probe`).
				Scan(&enough)
			return enough, err
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	k.must(k.admin, "GET", "/subscribers", nil)
}
