package subscribersviews_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
)

// spokenRows are the sentences of a timeline's rows in English and UTC, one in each line.
func spokenRows(t *testing.T, db *postgres.DB, schema string) string {
	t.Helper()
	rows, err := db.Owner.Query(t.Context(), "select code, facts from "+pgx.Identifier{schema}.Sanitize()+
		".timeline order by position")
	if err != nil {
		t.Fatal(err)
	}
	said, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
		var s subscribersviews.Sentence
		err := row.Scan(&s.Code, &s.Facts)
		return s.In(time.UTC) + "\n", err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(said, "")
}

// found lists what a pattern's group matches in some files, sorted and each once.
func found(t *testing.T, pattern string, files ...string) []string {
	t.Helper()
	var all []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile(pattern).FindAllSubmatch(source, -1) {
			all = append(all, string(match[1]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestSentences_AreThoseThatRowsAndDaysAreToldBy reads the codes from the source, so that none can be forgotten.
func TestSentences_AreThoseThatRowsAndDaysAreToldBy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("timeline*.go")
	if err != nil {
		t.Fatal(err)
	}
	told := found(t, `says\("([a-z_]+)", `, files...)
	if calls := found(t, `says\(([^"].*)`, files...); len(calls) > 0 {
		t.Errorf("codes must be constant texts: says(%s", strings.Join(calls, " says("))
	}
	told = append(told, found(t, `(?m)^\t[A-Z][A-Za-z]+ += "([a-z_]+)"`, "sentences.go")...) // of days
	slices.Sort(told)
	if diff := cmp.Diff(told, subscribersviews.SentenceCodes()); diff != "" {
		t.Errorf("(-told +sentences)\n%s", diff)
	}
}

func TestSentences_HaveWordsForAllKindsOfFacts(t *testing.T) {
	t.Parallel()
	kinds := found(t, `AccessDifferenceKind = "([a-z_]+)"`, "../../events/access_difference.go")
	if diff := cmp.Diff(kinds, subscribersviews.Difference("").Texts()); diff != "" {
		t.Errorf("differences (-events +words)\n%s", diff)
	}
	messages := found(t, `MessageTemplate = "([a-z_]+)"`, "../../events/messaging_message.go")
	if diff := cmp.Diff(messages, subscribersviews.Message("").Texts()); diff != "" {
		t.Errorf("messages (-events +words)\n%s", diff)
	}
	for _, reason := range subscribersviews.Reason("").Texts() {
		if words := subscribersviews.Reason(reason).Words(); !strings.Contains(words, " ") {
			t.Errorf("%s is said as %q", reason, words)
		}
	}
}

func TestSentences_SayWhatStandsInBraces(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	whole := subscribersviews.Facts{
		Amount: json.Number("1500.00"), Due: json.Number("500.00"), Currency: "KES", Invoice: "ACME-0001",
		Invoices: 3, Number: "CN-1", Channel: "c2b", Plan: "Home {amount}", Period: "month", Used: 5, Allowed: 10,
		Bytes: 5, From: at, Until: at, Cause: "no_line", Difference: "wrong_rate", Reason: "blocked",
		Message: "suspended", Fault: "no_address",
	}
	for _, code := range subscribersviews.SentenceCodes() {
		for _, facts := range []subscribersviews.Facts{whole, {}} {
			said := subscribersviews.Sentence{Code: code, Facts: facts}.In(time.UTC)
			said = strings.ReplaceAll(said, whole.Plan, "Home 20")
			if strings.ContainsAny(said, "{}") || !strings.HasSuffix(said, ".") || len(said) < 10 {
				t.Errorf("%s says %q", code, said)
			}
		}
	}
	said := subscribersviews.Sentence{Code: "walled_garden_entered", Facts: whole}.In(time.UTC)
	if want := "Not paid in time: KES 1500.00 of invoice ACME-0001 and 2 others. " +
		"The customer reaches only the payment page."; said != want {
		t.Errorf("%q", said)
	}
}

// A period that was never served was given back or voided as well, and its subscription goes on then.
func TestSentence_OfAPeriodThatNeverBeganDoesNotSayThatTheSubscriptionEnded(t *testing.T) {
	t.Parallel()
	got := subscribersviews.Sentence{Code: "period_never_began"}.In(time.UTC)
	if want := "A period was cancelled before it was served: its invoice is no longer owed."; got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
