package subscribersapi

import (
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/sheet"
	"github.com/lastmile-isp/lastmile/usecases/subscribers"
)

// importEffects are the sums of what an import makes (docs/rules/subscribers-import.md#sums).
type importEffects struct {
	Customers int             `json:"customers" doc:"who are made"`
	Completed int             `json:"completed" doc:"who are here, and get the service that they lack"`
	Services  int             `json:"services"`
	PaidTime  int             `json:"paidTime" doc:"services with paid time from now on"`
	Lapsed    int             `json:"lapsed" doc:"services whose paid time has run out"`
	Unpaid    int             `json:"unpaid" doc:"prepaid services without paid time: offline until somebody pays"`
	Postpaid  int             `json:"postpaid" doc:"services that pay afterwards, without paid time"`
	Usernames int             `json:"usernames" doc:"of services; for the other ones they are made"`
	Passwords int             `json:"passwords" doc:"of services; for the other ones they are made"`
	Hashed    int             `json:"hashed" doc:"services whose password nobody can read from the file: it is made"`
	Attached  int             `json:"attached" doc:"rows that only say more about the login of another row"`
	Owing     int             `json:"owing" doc:"customers who owe"`
	Owed      *httpapi.Number `json:"owed" doc:"by all of them; null: not readable"`
	InCredit  int             `json:"inCredit" doc:"customers who have paid ahead"`
	Credit    *httpapi.Number `json:"credit" doc:"of all of them; null: not readable"`
	Plans     []effectPlan    `json:"plans" doc:"the largest first"`
	States    []effectState   `json:"states" doc:"the most frequent first"`
}

// effectPlan counts the services of a plan.
type effectPlan struct {
	Code     string `json:"code"`
	Name     string `json:"name"`
	Services int    `json:"services"`
}

// effectState says what customers with a state of the file become.
type effectState struct {
	State     string  `json:"state" doc:"as the file has it, in small letters"`
	Becomes   becomes `json:"becomes" doc:"lapsed: as the paid time says"`
	Customers int     `json:"customers"`
}

// becomes is one of subscriberscases.ImportStates.
type becomes string

// Texts implements httpapi.Enumerated.
func (becomes) Texts() []string { return subscriberscases.ImportStates }

// importQuestion has to be answered before the import (docs/rules/subscribers-import.md#questions).
type importQuestion struct {
	Kind    questionKind     `json:"kind" doc:"answered by columns, dateOrder, encoding or unpaid"`
	Letter  *string          `json:"letter" doc:"of the column; null: it is about no column"`
	Column  *string          `json:"column" doc:"its title"`
	Meaning *questionMeaning `json:"meaning" doc:"what the column may have"`
	Rows    int              `json:"rows" doc:"that it is about; of date_order the number of the row that shows it"`
}

// questionKind is one of subscriberscases.ImportQuestions.
type questionKind string

// Texts implements httpapi.Enumerated.
func (questionKind) Texts() []string { return subscriberscases.ImportQuestions }

// questionMeaning is one of subscriberscases.ImportMeanings.
type questionMeaning string

// Texts implements httpapi.Enumerated.
func (questionMeaning) Texts() []string { return subscriberscases.ImportMeanings }

// readAnswers reads the parameters that answer questions. Fails: invalid_input.
func readAnswers(f *httpapi.Filters) subscriberscases.ImportAnswers {
	columns, fault := subscriberscases.ParseColumnAnswers(f.Text("columns"))
	if fault != "" {
		f.Add("columns", "%s", fault)
	}
	return subscriberscases.ImportAnswers{
		Columns:   columns,
		DateOrder: column.DateOrder(f.OneOf("dateOrder", dateOrders...)),
		Encoding:  sheet.Encoding(f.OneOf("encoding", sheet.Encodings...)),
		Unpaid:    null.Zero(f.Bool("unpaid")),
	}
}

// showEffects writes sums; no list is null.
func showEffects(in subscriberscases.ImportEffects) importEffects {
	out := importEffects{
		Customers: in.Customers, Completed: in.Completed, Services: in.Services, PaidTime: in.PaidTime,
		Lapsed: in.Lapsed, Unpaid: in.Unpaid, Postpaid: in.Postpaid, Usernames: in.Usernames,
		Passwords: in.Passwords, Hashed: in.Hashed, Attached: in.Attached, Owing: in.Owing, InCredit: in.InCredit,
		Plans: make([]effectPlan, len(in.Plans)), States: make([]effectState, len(in.States)),
	}
	if in.Owed.Currency != "" {
		out.Owed, out.Credit = new(in.Owed.Number()), new(in.Credit.Number())
	}
	for i, p := range in.Plans {
		out.Plans[i] = effectPlan{Code: p.Code, Name: p.Name, Services: p.Services}
	}
	for i, s := range in.States {
		out.States[i] = effectState{State: s.Word, Becomes: becomes(s.Becomes), Customers: s.Customers}
	}
	return out
}

// showQuestions writes what is open; the list is never null.
func showQuestions(in []subscriberscases.ImportQuestion) []importQuestion {
	out := make([]importQuestion, len(in))
	for i, q := range in {
		out[i] = importQuestion{
			Kind: questionKind(q.Kind), Letter: null.Of(q.Letter), Column: null.Of(q.Column),
			Meaning: null.Of(questionMeaning(q.Meaning)), Rows: q.Rows,
		}
	}
	return out
}
