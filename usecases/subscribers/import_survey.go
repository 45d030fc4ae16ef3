package subscriberscases

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// importSurvey has the facts about the columns of a file that its first reading shows. The second one reads the rows
// by it.
type importSurvey struct {
	values  []int // for each column, the rows in which it has a value
	heavy   []int // of them, those that would be lost: a debt that is not zero, a state that is not active
	planned int   // rows with a plan
	paid    int   // rows with paid time
	dates   *column.Dates
	logins  map[string]*loginAttributes // nil = the rows have no attributes
}

// surveyed goes through the rows of a file once, before any of them is read.
func surveyed(ctx context.Context, in ImportInput, layout importLayout, zone *time.Location) (importSurvey, error) {
	s := importSurvey{
		values: make([]int, layout.width), heavy: make([]int, layout.width),
		dates: column.NewDates(zone, in.Answers.DateOrder),
	}
	if layout.hasAttributes() {
		s.logins = map[string]*loginAttributes{}
	}
	meanings := make([]string, layout.width)
	for i, c := range layout.columns {
		meanings[i] = meaningOf(c.Column)
	}
	table, err := sheet.OpenIn(in.Body, in.Answers.Encoding)
	if err != nil {
		return s, err
	}
	for {
		if ctx.Err() != nil {
			return s, fmt.Errorf("survey the rows of a file: %w", context.Cause(ctx))
		}
		cells, row, err := table.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			s.add(layout, cells, row, meanings)
		}
	}
	for _, a := range s.logins {
		if a.paid != "" {
			s.dates.Add(a.row, a.paid)
			s.paid++
		}
	}
	return s, nil
}

// add takes a row into account.
func (s *importSurvey) add(layout importLayout, cells []string, row int, meanings []string) {
	for i := range min(len(cells), layout.width) {
		if text := cellAt(cells, i); text != "" {
			s.values[i]++
			if weighs(text, meanings[i]) {
				s.heavy[i]++
			}
		}
	}
	cell := func(field string) string { return layout.cell(cells, field) }
	if cell(colPlan) != "" {
		s.planned++
	}
	if text := paidText(cell); text != "" {
		s.dates.Add(row, text)
		s.paid++
	}
	if s.logins != nil {
		layout.attributesOf(cells, row, s.logins)
	}
}

// paidText is the text of a row's paid time: one cell, or a day and a time.
func paidText(cell func(string) string) string {
	if day := cell(colPaidDay); day != "" {
		return strings.TrimSpace(day + " " + cell(colPaidTime))
	}
	return cell(colPaidUntil)
}

// weighs reports whether a value of a column says something that an import without the column would lose.
func weighs(text, meaning string) bool {
	switch meaning {
	case "":
		return false
	case MeansBalance, MeansPrice:
		return strings.ContainsAny(text, "123456789") || !strings.ContainsRune(text, '0')
	case MeansStatus:
		return stateWords[strings.ToLower(text)] != StateActive
	}
	return true
}

// What an unused column may mean, by its title.
const (
	MeansBalance = "balance" // money that is owed, or was paid ahead
	MeansStatus  = "status"
	MeansExpiry  = "expiry"
	MeansPrice   = "price" // of a plan: plans have their prices here
	MeansPlan    = "plan"
)

// ImportMeanings are these.
var ImportMeanings = []string{MeansBalance, MeansStatus, MeansExpiry, MeansPrice, MeansPlan}

// titleWords are the words by which the title of a column shows a meaning, in the order in which they are looked for.
// They are in the languages of exports that ISPs bring: English, Swahili, Spanish and Portuguese. "=" is before a word
// that is the whole title: as a part of another word it means something else.
var titleWords = []struct {
	meaning string
	words   []string
}{
	{MeansExpiry, []string{
		"expir", "validuntil", "validtill", "validto", "paiduntil", "paidto", "duedate", "enddate", "nextbill",
		"nextdue", "renew", "todate", "vencimiento", "vencimento", "mwisho",
	}},
	{MeansBalance, []string{
		"balance", "owing", "owed", "owes", "debt", "arrear", "outstanding", "credit", "wallet", "deposit", "due",
		"unpaid", "payable", "receivable", "salio", "deni", "saldo", "deuda", "divida",
	}},
	{MeansPrice, []string{"price", "=fee", "monthlyfee", "cost", "amount", "=bei", "precio", "preco", "=valor"}},
	{MeansStatus, []string{
		"status", "active", "enabled", "disabled", "banned", "blocked", "suspended", "=hali", "=estado", "situacao",
	}},
	{MeansPlan, []string{"plan", "package", "tariff", "kifurushi", "paquete", "plano"}},
}

// meaningOf gives the meaning that a title shows; "" = it is not about money or the state of customers.
func meaningOf(title string) string {
	key := column.Title(title)
	if strings.HasPrefix(key, "creditcard") {
		return ""
	}
	for _, of := range titleWords {
		for _, word := range of.words {
			if strings.Contains("="+key+"=", word) && (word[0] != '=' || "="+key == word) {
				return of.meaning
			}
		}
	}
	return ""
}
