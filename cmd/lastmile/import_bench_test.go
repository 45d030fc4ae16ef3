package main

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/internal/benchtest"
)

// importRow is how long a row of an import may take: 50,000 rows shall be taken in within 120 s on two cores.
const importRow = 120 * time.Second / 50_000

// BenchmarkImport measures an import in the running program, from the upload to its end, with every process and read
// model at work. BENCH_IMPORT_ROWS is the number of rows; 50000 is the full size. The limit is the time
// that it may take.
func BenchmarkImport(b *testing.B) {
	k := newBenchKit(b)
	k.plan("home", 1500)
	n := benchtest.Size(b, "IMPORT_ROWS", 5_000)
	for b.Loop() {
		began := time.Now()
		status, asked := k.upload(k.admin, "", manyCustomers(n))
		if status != 202 {
			b.Fatalf("import %d: %v", status, asked)
		}
		done := k.imported(k.admin, asked.text("id"))
		if count(done, "created") != n {
			b.Fatalf("%v\n%s", done, faultsOf(done))
		}
		benchtest.ReportTime(b, "import", time.Since(began), time.Duration(n)*importRow, 1)
	}
}
