package pgtest_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/postgres/pgtest"
)

// withNumbers is a template with one table of one row, which counts how often it was prepared.
func withNumbers(prepared *atomic.Int64) *pgtest.Template {
	return pgtest.NewTemplate(func(ctx context.Context, db *postgres.DB) error {
		prepared.Add(1)
		_, err := db.Owner.Exec(ctx, `create table numbers as select 1 as n`)
		return err
	})
}

// exec runs a statement; a failure ends the test.
func exec(t *testing.T, db *postgres.DB, sql string) {
	t.Helper()
	if _, err := db.Owner.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// databases lists the databases of the server.
func databases(t *testing.T, db *postgres.DB) []string {
	t.Helper()
	rows, _ := db.Owner.Query(t.Context(), `select datname::text from pg_database`)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestTemplate_ACopyHasWhatWasPreparedOnceAndNothingOfAnotherTest(t *testing.T) {
	t.Parallel()
	var prepared atomic.Int64
	template, name := withNumbers(&prepared), ""
	t.Run("one test", func(t *testing.T) {
		db := template.New(t)
		exec(t, db, `insert into numbers values (2)`)
		if err := db.Owner.QueryRow(t.Context(), `select current_database()`).Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	db, n := template.New(t), 0
	if err := db.Owner.QueryRow(t.Context(), `select sum(n) from numbers`).Scan(&n); err != nil || n != 1 {
		t.Errorf("the copy has %d, %v", n, err)
	}
	if prepared.Load() != 1 {
		t.Errorf("prepared %d times", prepared.Load())
	}
	if slices.Contains(databases(t, db), name) {
		t.Errorf("the database of a test that has ended is still there")
	}
}

// A program that is killed drops nothing; on a server that lives longer the next program does.
func TestTemplate_WhatAKilledProgramLeftIsDroppedAndWhatALivingOneHasIsNot(t *testing.T) {
	t.Parallel()
	var prepared atomic.Int64
	living := withNumbers(&prepared).New(t)
	left := []string{"lastmile_template_tdead", "lastmile_template_tdead_1"}
	for _, name := range left {
		exec(t, living, `create database `+name)
	}
	withNumbers(&prepared).New(t)
	for _, name := range databases(t, living) {
		if slices.Contains(left, name) {
			t.Errorf("%s is still there", name)
		}
	}
	exec(t, living, `insert into numbers values (3)`)
}
