package main

import (
	"context"
	"strings"
	"testing"
)

// TestImport_OneWhoseRowsAreGoneEndsAndTheSameFileBeginsItAgain.
func TestImport_OneWhoseRowsAreGoneEndsAndTheSameFileBeginsItAgain(t *testing.T) {
	t.Parallel()
	const n = 1_200
	k := newKit(t).start().signIn()
	k.plan("home", 1500)
	vault := k.db.Namespace.Schema("vault")
	k.execute(`create function ` + vault + `.lose() returns trigger language plpgsql as
		'begin if new.part = 2 then return null; end if; return new; end'`)
	k.execute(`create trigger lose before insert on ` + vault + `.files
		for each row execute function ` + vault + `.lose()`)
	status, asked := k.upload(k.admin, "", manyCustomers(n))
	if status != 202 {
		t.Fatalf("import %d: %v", status, asked)
	}
	lost := k.imported(k.admin, asked.text("id"))
	if count(lost, "created") != 1_000 || count(lost, "failed") != 200 ||
		!strings.Contains(faultsOf(lost), "send the same file again") {
		t.Errorf("import %v\n%s", lost, faultsOf(lost))
	}
	k.must(k.admin, "POST", "/batches/"+asked.text("id")+"/undo/preview", nil) // it could be taken back
	k.execute(`drop trigger lose on ` + vault + `.files`)
	status, again := k.upload(k.admin, "", manyCustomers(n))
	if status != 202 || again.text("id") != asked.text("id") {
		t.Fatalf("again: %d %v", status, again)
	}
	done := k.imported(k.admin, asked.text("id"))
	if count(done, "created") != n || count(done, "failed") != 0 {
		t.Errorf("import %v\n%s", done, faultsOf(done))
	}
	k.eventually("all customers", func(ctx context.Context) (bool, error) {
		report, err := k.admin.call(ctx, "GET", "/reports/customers", "", nil)
		total, _ := report["total"].(float64)
		if int(total) > n {
			t.Fatalf("%v customers of %d", total, n)
		}
		return int(total) == n, err
	})
}

// TestExport_OneThatCannotBeMadeIsToldAndCanBeAskedForAgain.
func TestExport_OneThatCannotBeMadeIsToldAndCanBeAskedForAgain(t *testing.T) {
	t.Parallel()
	k := newKit(t).start().signIn()
	files := k.db.Namespace.Schema("vault") + ".files"
	k.execute(`alter table ` + files + ` add constraint full_disk check (part < 0) not valid`)
	asked := k.must(k.admin, "POST", "/exports", nil)
	var jobs string
	err := k.db.Owner.QueryRow(t.Context(), `select table_schema from information_schema.tables
		where table_name = 'river_job' and table_schema like $1`, string(k.db.Namespace)+"%").Scan(&jobs)
	if err != nil {
		t.Fatal(err)
	}
	k.eventually("the end of the export", func(ctx context.Context) (bool, error) {
		_, err := k.db.Owner.Exec(ctx, `update `+jobs+`.river_job set max_attempts = attempt + 1
			where kind = 'subscribers_export' and state in ('retryable', 'available') and max_attempts > attempt + 1`)
		if err != nil {
			return false, err
		}
		got, err := k.admin.call(ctx, "GET", "/exports/"+asked.text("id"), "", nil)
		return err == nil && got.text("state") == "failed" && got["url"] == nil, err
	})
	if got := k.errorOf(k.admin, "GET", "/exports/"+asked.text("id")+"/file", nil); got == nil {
		t.Error("it can be fetched")
	}
	k.execute(`alter table ` + files + ` drop constraint full_disk`)
	if made := k.copied(k.admin); len(made) == 0 {
		t.Error("no copy afterwards")
	}
}

// execute changes the database behind the program's back.
func (k *kit) execute(sql string) {
	k.t.Helper()
	if _, err := k.db.Owner.Exec(k.t.Context(), sql); err != nil {
		k.t.Fatal(err)
	}
}
