package validation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/ast"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Names that an expression may use without declaring them: types, and the
// libraries whose functions are called as if they were methods.
var (
	celTypes = []string{"bool", "bytes", "double", "dyn", "int", "list", "map", "null_type", "string", "type", "uint",
		"google", "optional_type", "Object", "JSONPatch", "kubernetes"}
	celLibraries = []string{"base64", "cel", "cidr", "format", "ip", "jsonpatch", "lists", "math", "net", "optional",
		"proto", "quantity", "regex", "semver", "sets", "strings", "url"}
)

// Variables of the places where expressions stand.
var (
	webhookVariables = []string{"object", "oldObject", "request", "authorizer"}
	policyVariables  = []string{"object", "oldObject", "request", "authorizer", "namespaceObject", "variables", "params"}
	deviceVariables  = []string{"device"}
)

// celExpression checks the syntax of an expression and that it names nothing
// unknown. Types are not checked: that needs the declarations of every library.
func celExpression(expression string, variables []string, p *field.Path) field.ErrorList {
	env, err := cel.NewCustomEnv(cel.OptionalTypes(), cel.Macros(cel.StandardMacros...))
	if err != nil {
		return field.ErrorList{field.InternalError(p, err)}
	}
	text := celProblems(env, expression, variables)
	return refuse(text != "", field.Invalid(p, expression, "compilation failed: "+text))
}

func celProblems(env *cel.Env, expression string, variables []string) string {
	parsed, issues := env.Parse(expression)
	if issues != nil && issues.Err() != nil {
		return issues.String()
	}
	source := common.NewTextSource(expression)
	errs := common.NewErrors(source)
	tree := parsed.NativeRep()
	walkCEL(tree.Expr(), variables, func(e ast.Expr) {
		errs.ReportErrorAtID(e.ID(), tree.SourceInfo().GetStartLocation(e.ID()), "%s",
			fmt.Sprintf("undeclared reference to '%s' (in container '')", e.AsIdent()))
	})
	return errs.ToDisplayString()
}

// walkCEL reports the identifiers that nothing declares.
func walkCEL(e ast.Expr, known []string, report func(ast.Expr)) {
	walk := func(e ast.Expr) { walkCEL(e, known, report) }
	switch e.Kind() {
	case ast.IdentKind:
		name := strings.TrimPrefix(e.AsIdent(), ".")
		if !slices.Contains(known, name) && !slices.Contains(celTypes, name) {
			report(e)
		}
	case ast.SelectKind:
		walk(e.AsSelect().Operand())
	case ast.CallKind:
		walkCELCall(e.AsCall(), known, report)
	case ast.ListKind:
		for _, element := range e.AsList().Elements() {
			walk(element)
		}
	case ast.MapKind:
		for _, entry := range e.AsMap().Entries() {
			walk(entry.AsMapEntry().Key())
			walk(entry.AsMapEntry().Value())
		}
	case ast.StructKind:
		for _, f := range e.AsStruct().Fields() {
			walk(f.AsStructField().Value())
		}
	case ast.ComprehensionKind:
		c := e.AsComprehension()
		inner := append(slices.Clone(known), c.IterVar(), c.IterVar2(), c.AccuVar())
		walk(c.IterRange())
		walk(c.AccuInit())
		for _, part := range []ast.Expr{c.LoopCondition(), c.LoopStep(), c.Result()} {
			walkCEL(part, inner, report)
		}
	}
}

// walkCELCall knows the macros of libraries that declare variables of their own
// only as calls, and lets their arguments be.
func walkCELCall(call ast.CallExpr, known []string, report func(ast.Expr)) {
	if call.IsMemberFunction() {
		target := call.Target()
		library := target.Kind() == ast.IdentKind && slices.Contains(celLibraries, target.AsIdent())
		if !library {
			walkCEL(target, known, report)
		}
		if call.FunctionName() == "bind" || len(call.Args()) > 1 && call.Args()[0].Kind() == ast.IdentKind {
			return
		}
	}
	for _, arg := range call.Args() {
		walkCEL(arg, known, report)
	}
}
