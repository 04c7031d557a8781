//! The kind, as problem files, rows of a table, figures and Python see it.

use std::sync::Arc;

use serde_json::Value;

use super::Cvrp;
use crate::error::Result;
use crate::problem::ProblemKind;
use crate::problem::family::{
    ArgumentForm, At, FieldSize, KindConstructor, KindDefinition, KindField, LARGE_CAPACITY,
    ProblemFamily, RowPlace, TemplateRules,
};
use crate::problem::layout::DrawnNodes;
use crate::problem::{Problem, ProblemSpec};

/// The kind, as problem files and Python see it.
pub(in crate::problem) static FAMILY: ProblemFamily = ProblemFamily {
    name: "cvrp",
    summary: "The cheapest routes of a fleet that serve all customers from a depot.",
    starter: "\
# which vehicle visits whom, in which order: one cost per pair, node 0 is the depot
kind = \"cvrp\"
demands = [4.0, 7.5, 3.0]  # fill in: of the customers
capacity = 12.0            # fill in: of a vehicle
vehicles = 2               # fill in: most routes
",
    fields: &[
        KindField::required(
            "demands",
            "array_like of shape (customers,) or columns",
            "Demands of the customers.",
        )
        .rows(&[
            RowPlace::number(0.0).sized(FieldSize::Items),
            RowPlace::number(0.0).at(&[At::Index]),
        ]),
        KindField::required("capacity", "float or column", "Capacity of a vehicle.")
            .rows(&[RowPlace::number(LARGE_CAPACITY)]),
        KindField::required("vehicles", "int or column", "Number of vehicles.")
            .rows(&[RowPlace::whole(1)]),
        KindField::optional(
            "single_customer_routes",
            "bool, default True",
            "Whether a route may serve a single customer.",
        )
        .annotated("bool")
        .default("True")
        .form(ArgumentForm::Flag),
        KindField::optional(
            "customers",
            "int, optional",
            "Number of customers, if the demands come from columns.",
        )
        .annotated("int | None"),
        KindField::present(
            "array_like of shape (customers,) or columns, optional",
            "Which customers are served (1 or 0); all by default. Costs of edges of absent \
             customers may be missing (NaN).",
        ),
    ],
    constructor: Some(KindConstructor {
        summary: "Build a capacitated vehicle routing problem: the cheapest routes from a depot, \
                  node 0.",
        positional: 3,
        examples: &[">>> problem = rl.Problem.cvrp(rl.columns(\"demand\"), 10, 2, customers=4)"],
        ..KindConstructor::NEW
    }),
    template: TemplateRules {
        items_key: Some("customers"),
        listed_items: customers_of_file,
        ..TemplateRules::NEW
    },
    ..ProblemFamily::NEW
};

fn customers_of_file(file: &Value) -> Option<usize> {
    let length = |key: &str| file.get(key)?.as_array().map(Vec::len);
    length("demands").or_else(|| length("present"))
}

impl KindDefinition for Cvrp {
    #[cfg(feature = "highs")]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Ok(Arc::new(self.clone()))
    }

    #[cfg(not(feature = "highs"))]
    fn build(&self) -> Result<Arc<dyn ProblemKind>> {
        Err(crate::error::Error::setting(
            "vehicle routing needs HiGHS, which this build was made without \
             (cargo feature `highs`)",
        ))
    }

    fn drawn_nodes(&self) -> Option<DrawnNodes<'_>> {
        Some(DrawnNodes {
            count: self.nodes(),
            depot: true,
            arcs: None,
        })
    }
}

impl Problem {
    /// The cheapest routes of a fleet that serve all customers from a depot (node 0). Edge costs
    /// are predicted, in the order 0–1, 0–2, …, 1–2, ….
    ///
    /// ```
    /// # #[cfg(feature = "highs")] {
    /// use regretless::Problem;
    ///
    /// // Two vehicles of capacity 10, each of which can serve two of the four customers.
    /// let problem = Problem::cvrp(vec![5.0, 5.0, 5.0, 5.0], 10.0, 2)?;
    /// let costs = [2.0, 2.0, 2.0, 2.0, 1.0, 9.0, 9.0, 9.0, 9.0, 1.0];
    /// assert_eq!(problem.solve(&costs)?.objective, 10.0);
    /// # }
    /// # Ok::<(), regretless::Error>(())
    /// ```
    ///
    /// # Errors
    /// When demands exceed the fleet's capacity, or the build has no HiGHS.
    pub fn cvrp(demands: Vec<f64>, capacity: f64, vehicles: usize) -> Result<Self> {
        Self::from_spec(ProblemSpec::Cvrp(
            Cvrp::new(demands, capacity, vehicles)?.with_single_customer_routes(true),
        ))
    }
}
