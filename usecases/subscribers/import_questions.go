package subscriberscases

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/sheet"
)

// leftOut is the answer that leaves a column out.
const leftOut = "-"

// ImportAnswers has a person's answers to the questions of a check.
type ImportAnswers struct {
	// Columns has one of AnswerFields for a column of the file, by the letter that a spreadsheet gives it.
	Columns   map[string]string
	DateOrder column.DateOrder
	Encoding  sheet.Encoding
	// Unpaid says that customers without paid time are meant: they are offline until somebody pays.
	Unpaid bool
}

// AnswerFields are our columns for which a column of a file can be taken, and leftOut.
var AnswerFields = append(slices.Clone(ImportColumns), colFullName, colCredit, leftOut)

// ParseColumnAnswers reads answers such as "C:openingBalance,F:-". fault says what is wrong with them.
func ParseColumnAnswers(text string) (answers map[string]string, fault string) {
	answers = map[string]string{}
	if text == "" {
		return answers, ""
	}
	for part := range strings.SplitSeq(text, ",") {
		letter, field, _ := strings.Cut(strings.TrimSpace(part), ":")
		switch {
		case letter == "" || len(letter) > 2 || strings.Trim(letter, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
			return nil, "must name columns by letters, such as C:openingBalance,F:-"
		case !slices.Contains(AnswerFields, field):
			return nil, "must give one of " + strings.Join(AnswerFields, ", ")
		case answers[letter] != "":
			return nil, "must name each column once"
		}
		answers[letter] = field
	}
	return answers, ""
}

// check refuses answers that cannot be given.
func (a ImportAnswers) check(f *failure.Faults) {
	f.Check(a.DateOrder == column.AnyOrder || a.DateOrder.Known(), "dateOrder", "is not known")
	f.Check(a.Encoding == "" || a.Encoding.Known(), "encoding", "is not known")
}

// piece has the answers in one form, "" when there are none: other answers make another import of the same file.
func (a ImportAnswers) piece() string {
	var b strings.Builder
	for _, letter := range slices.Sorted(maps.Keys(a.Columns)) {
		fmt.Fprintf(&b, " %s:%s", letter, a.Columns[letter])
	}
	if a.DateOrder != column.AnyOrder || a.Encoding != "" || a.Unpaid {
		fmt.Fprintf(&b, " %s %s %v", a.DateOrder, a.Encoding, a.Unpaid)
	}
	return b.String()
}

// Kinds of questions.
const (
	AskColumn    = "column"     // what a column of money or state is for, or that it is left out
	AskDateOrder = "date_order" // day or month first: no row decides
	AskEncoding  = "encoding"   // of bytes that are no Unicode
	AskUnpaid    = "unpaid"     // whether customers without paid time are meant
)

// ImportQuestions are these.
var ImportQuestions = []string{AskColumn, AskDateOrder, AskEncoding, AskUnpaid}

// ImportQuestion has to be answered before the import can be started.
type ImportQuestion struct {
	Kind    string
	Letter  string // of AskColumn
	Column  string // its title
	Meaning string // what it may be, one of ImportMeanings
	Rows    int    // that it is about; of AskDateOrder the number of a row that can be read in two ways
}

// questionsOf lists the open questions. An unused column is asked about when it says something about money or state
// that the import would lose.
func questionsOf(in ImportInput, header []string, l importLayout, s importSurvey, guessed bool) []ImportQuestion {
	var list []ImportQuestion
	if guessed {
		list = append(list, ImportQuestion{Kind: AskEncoding})
	}
	for i, c := range l.columns {
		meaning := meaningOf(c.Column)
		doubtful := c.Field == colCredit && !isTableOf(header, in.Source) // owed, or paid ahead?
		if s.heavy[i] == 0 || in.Answers.Columns[c.Letter] != "" || c.Field != "" && !doubtful {
			continue
		}
		list = append(list, ImportQuestion{
			Kind: AskColumn, Letter: c.Letter, Column: shortened(strings.Fields(c.Column), " "),
			Meaning: cmp.Or(meaning, MeansBalance), Rows: s.heavy[i],
		})
	}
	var order *column.OrderError
	if err := s.dates.Decide(); errors.As(err, &order) && order.Why == column.Undecided {
		list = append(list, ImportQuestion{Kind: AskDateOrder, Rows: order.Row})
	}
	if in.Source != "" && s.planned > 0 && s.paid == 0 && !in.Answers.Unpaid {
		list = append(list, ImportQuestion{Kind: AskUnpaid, Rows: s.planned})
	}
	return list
}

// orderFault gives the fault of a file whose order of day and month cannot be decided by an answer.
func orderFault(dates *column.Dates) (row int, faults failure.Faults) {
	var order *column.OrderError
	if err := dates.Decide(); errors.As(err, &order) && order.Why != column.Undecided {
		faults.Add(colPaidUntil, "%s", strings.NewReplacer(" has "+order.Date, "", " has "+order.OtherDate, "").Replace(
			err.Error()))
		return order.Row, faults
	}
	return 0, nil
}

// errQuestions refuses to start an import about which something is asked.
func errQuestions() error {
	return failure.NewConflict("import_questions_open",
		"Something in this file has to be decided before it is imported. Check it, and answer what is asked.")
}
