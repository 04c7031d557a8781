use super::Method;

#[test]
fn names_parse_and_print_as_themselves() {
    for name in [
        "SPO+",
        "SPO+ relax",
        "SPO+ relax tight cache 5%",
        "PFYL(mul,sigma=0.5) cache 7%",
        "SPO+ cache 0% per-instance capacity 500",
        "SPO+ relax tight warm",
        "PFYL cache 5% warm certify memory 200MB",
        "MAE(O,S) certify",
        "SPO+ local-search",
        "MAE(O,S) lr 0.05 epochs 20 lr-decay then SPO+ local-search:fast lr 0.05 epochs 2 \
         batch-size 8 lr-decay",
        "SPO+ local-search:from-label lr 0.2 epochs 1 rows-per-epoch 300 batch-size 8 lr-decay",
        "CaVE(inner,steps=8) rows-per-epoch 300",
        "SPO+ cache 50% node-limit 100",
        "MSE(O,S) knn(10,0.5)",
        "MAE(O,S) then SPO+ cache 5% then PFYL",
        "SPO+ relax labels relaxed",
        "SPO+ relax tight knn(3,0.25) labels relaxed tight lr 0.1",
        "MAE(O,S) epochs 9 then SPO+ cache 5% lr 0.001 epochs 5",
    ] {
        assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
    }
    assert_eq!(
        "spo+  relax".parse::<Method>().unwrap().to_string(),
        "SPO+ relax"
    );
    assert_eq!(
        "mse( o , s) knn".parse::<Method>().unwrap().to_string(),
        "MSE(O,S) knn(10,0.5)"
    );
    assert_eq!(
        "SPO+ epochs 3 learning_rate 1e-3"
            .parse::<Method>()
            .unwrap()
            .to_string(),
        "SPO+ lr 0.001 epochs 3"
    );
    assert_eq!(
        "PFYL(samples=10,sigma=1)"
            .parse::<Method>()
            .unwrap()
            .to_string(),
        "PFYL"
    );
}

/// Methods and what the error of each names.
const ERRORS: [(&str, &str); 33] = [
    ("SPO", "SPO+"),
    ("", "PFYL"),
    ("SPO+ fast", "relax tight"),
    ("SPO+ cache 105%", "0% to 100%"),
    ("SPO+ cache", "cache 5%"),
    ("SPO+ relax relax", "twice"),
    ("SPO+(samples=3)", "no options"),
    ("PFYL(sample=3)", "samples"),
    ("PFYL(samples=0)", "integer"),
    ("PFYL(sigma=-1)", "above 0"),
    ("MSE relax", "never calls the solver"),
    ("MSE local-search", "never calls the solver"),
    ("SPO+ warm warm", "twice"),
    ("SPO+ local-search node-limit 5", "twice"),
    ("SPO+ node-limit", "node-limit 100"),
    ("SPO+ node-limit 0", "node-limit 100"),
    ("SPO+ warm memory 5", "200MB"),
    ("SPO+ memory 5MB", "without 'warm'"),
    ("SPO+ relax local-search", "cannot be combined"),
    ("SPO+ warm node-limit 9", "earlier solver calls"),
    ("MSE then ", "SPO+"),
    ("SPO+ lr 0", "above 0"),
    ("SPO+ lr", "lr 0.001"),
    ("SPO+ epochs many", "integer"),
    ("SPO+ epochs 1 epochs 2", "twice"),
    ("SPO+ batch-size 0", "batch-size 5"),
    ("SPO+ lr-decay lr-decay", "twice"),
    ("SPO+ batch 8", "'batch-size'"),
    ("SPO+ rows 8", "'rows-per-epoch'"),
    ("SPO+ decay", "'lr-decay'"),
    ("SPO+ labels", "labels relaxed"),
    ("SPO+ quick", "epochs 5"),
    ("MSE knn(0)", "knn"),
];

#[test]
fn errors_list_the_choices() {
    for (name, words) in ERRORS {
        let message = name.parse::<Method>().unwrap_err().to_string();
        assert!(message.contains(words), "{name}: {message}");
    }
}

#[test]
fn auto_parses_and_prints_as_itself() {
    for name in [
        "auto",
        "auto 120s",
        "auto 0.5s",
        "auto 120s solve 0.5s",
        "auto solve 2s",
        "auto with MSE(O_S)",
        "auto 30s solve 2s with MAE(O,S) then SPO+ lr 0.001 or CaVE(inner,steps=8)",
        "MAE(O,S)",
        "MAE(O,S) then SPO+",
    ] {
        assert_eq!(name.parse::<Method>().unwrap().to_string(), name);
    }
    assert_eq!("auto 20".parse::<Method>().unwrap(), Method::auto());
    assert!(
        "auto soon"
            .parse::<Method>()
            .unwrap_err()
            .to_string()
            .contains("auto 120s")
    );
    assert!("autumn".parse::<Method>().is_err());
    assert!("auto 60s solve".parse::<Method>().is_err());
    assert!("auto 60s solve -1s".parse::<Method>().is_err());
    for name in [
        "auto with",
        "auto with ",
        "auto with auto",
        "auto with MSE or auto 5s",
    ] {
        assert!(name.parse::<Method>().is_err(), "{name}");
    }
}
