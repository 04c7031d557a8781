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

#[test]
fn errors_list_the_choices() {
    let message = |name: &str| name.parse::<Method>().unwrap_err().to_string();
    assert!(message("SPO").contains("SPO+"), "{}", message("SPO"));
    assert!(message("").contains("PFYL"), "{}", message(""));
    assert!(
        message("SPO+ fast").contains("relax tight"),
        "{}",
        message("SPO+ fast")
    );
    assert!(
        message("SPO+ cache 105%").contains("0% to 100%"),
        "{}",
        message("SPO+ cache 105%")
    );
    assert!(
        message("SPO+ cache").contains("cache 5%"),
        "{}",
        message("SPO+ cache")
    );
    assert!(
        message("SPO+ relax relax").contains("twice"),
        "{}",
        message("SPO+ relax relax")
    );
    assert!(
        message("SPO+(samples=3)").contains("no options"),
        "{}",
        message("SPO+(samples=3)")
    );
    assert!(
        message("PFYL(sample=3)").contains("samples"),
        "{}",
        message("PFYL(sample=3)")
    );
    assert!(
        message("PFYL(samples=0)").contains("integer"),
        "{}",
        message("PFYL(samples=0)")
    );
    assert!(
        message("PFYL(sigma=-1)").contains("above 0"),
        "{}",
        message("PFYL(sigma=-1)")
    );
    assert!(
        message("MSE relax").contains("never calls the solver"),
        "{}",
        message("MSE relax")
    );
    assert!(
        message("MSE local-search").contains("never calls the solver"),
        "{}",
        message("MSE local-search")
    );
    assert!(
        message("SPO+ warm warm").contains("twice"),
        "{}",
        message("SPO+ warm warm")
    );
    assert!(
        message("SPO+ local-search node-limit 5").contains("twice"),
        "{}",
        message("SPO+ local-search node-limit 5")
    );
    assert!(
        message("SPO+ node-limit").contains("node-limit 100"),
        "{}",
        message("SPO+ node-limit")
    );
    assert!(
        message("SPO+ node-limit 0").contains("node-limit 100"),
        "{}",
        message("SPO+ node-limit 0")
    );
    assert!(
        message("SPO+ warm memory 5").contains("200MB"),
        "{}",
        message("SPO+ warm memory 5")
    );
    assert!(
        message("SPO+ memory 5MB").contains("without 'warm'"),
        "{}",
        message("SPO+ memory 5MB")
    );
    assert!(
        message("SPO+ relax local-search").contains("exclude"),
        "{}",
        message("SPO+ relax local-search")
    );
    assert!(
        message("SPO+ warm node-limit 9").contains("earlier solver calls"),
        "{}",
        message("SPO+ warm node-limit 9")
    );
    assert!(
        message("MSE then ").contains("SPO+"),
        "{}",
        message("MSE then ")
    );
    assert!(
        message("SPO+ lr 0").contains("above 0"),
        "{}",
        message("SPO+ lr 0")
    );
    assert!(
        message("SPO+ lr").contains("lr 0.001"),
        "{}",
        message("SPO+ lr")
    );
    assert!(
        message("SPO+ epochs many").contains("integer"),
        "{}",
        message("SPO+ epochs many")
    );
    assert!(
        message("SPO+ epochs 1 epochs 2").contains("twice"),
        "{}",
        message("SPO+ epochs 1 epochs 2")
    );
    assert!(
        message("SPO+ batch-size 0").contains("batch-size 5"),
        "{}",
        message("SPO+ batch-size 0")
    );
    assert!(
        message("SPO+ lr-decay lr-decay").contains("twice"),
        "{}",
        message("SPO+ lr-decay lr-decay")
    );
    assert!(
        message("SPO+ batch 8").contains("'batch-size'"),
        "{}",
        message("SPO+ batch 8")
    );
    assert!(
        message("SPO+ rows 8").contains("'rows-per-epoch'"),
        "{}",
        message("SPO+ rows 8")
    );
    assert!(
        message("SPO+ decay").contains("'lr-decay'"),
        "{}",
        message("SPO+ decay")
    );
    assert!(
        message("SPO+ labels").contains("labels relaxed"),
        "{}",
        message("SPO+ labels")
    );
    assert!(
        message("SPO+ quick").contains("epochs 5"),
        "{}",
        message("SPO+ quick")
    );
    assert!(
        message("MSE knn(0)").contains("knn"),
        "{}",
        message("MSE knn(0)")
    );
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
    assert_eq!("auto 60".parse::<Method>().unwrap(), Method::auto());
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
